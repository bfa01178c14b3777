#include "sync/sync_policy.h"

namespace leeway {

#define LW_SYNC_MODEL(name, make) Result<SyncModelPtr> make(const PolicyConfig& config);
#include "sync/builtin.def"
#undef LW_SYNC_MODEL

Registry<SyncModel> BuiltinSyncModels() {
  Registry<SyncModel> models("sync model");
#define LW_SYNC_MODEL(name, make) models.Add(name, make);
#include "sync/builtin.def"
#undef LW_SYNC_MODEL
  return models;
}

}  // namespace leeway
