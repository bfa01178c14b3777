// SyncPolicy: a synchronization model together with the options that every model takes in its spec.
//
//   ssp:3,release=soft,late=apply,scope=server
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.h"
#include "leeway/status.h"
#include "leeway/sync_model.h"

namespace leeway {

// When a block answers a delayed pull: kLazy when v_train passes the pull's progress, kSoft at the next
// advance.
enum class Release : std::uint8_t { kLazy, kSoft };
// The fate of a push for an iteration below v_train.
enum class Late : std::uint8_t { kDrop, kApply };
// The scope of a coin: one per pull for the whole job, or one per server.
enum class CoinScope : std::uint8_t { kJob, kServer };

struct SyncPolicy {
  SyncModelPtr model;
  Release release = Release::kLazy;
  std::optional<Late> late;  // nothing: drop under aggregate, apply under immediate
  CoinScope scope = CoinScope::kJob;
  SpecTerm resolved;  // the spec with every option by name and defaults filled in; late is empty if not given
};

// The option keys that every model takes.
[[nodiscard]] std::vector<std::string> SyncPolicyKeys();
// The rows of builtin.def; users may Add to their copy.
[[nodiscard]] Registry<SyncModel> BuiltinSyncModels();
[[nodiscard]] Result<SyncPolicy> MakeSyncPolicy(const Registry<SyncModel>& models, std::string_view spec);
// The same for a spec that a user has just written: it tries the model too. Shards and workers receive specs
// that were checked, and need not try again.
[[nodiscard]] Result<SyncPolicy> CheckSyncPolicy(const Registry<SyncModel>& models, std::string_view spec);
// The fate of a late push under this policy: the policy's own word, or without one the default of the apply
// mode.
[[nodiscard]] Late LateOf(const SyncPolicy& policy, bool aggregates);

}  // namespace leeway
