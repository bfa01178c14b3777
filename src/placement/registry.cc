#include "placement/placements.h"

namespace leeway {

#define LW_PLACEMENT(name, make) Result<PlacementPtr> make(const PolicyConfig& config);
#include "placement/builtin.def"
#undef LW_PLACEMENT

Registry<Placement> BuiltinPlacements() {
  Registry<Placement> placements("placement");
#define LW_PLACEMENT(name, make) placements.Add(name, make);
#include "placement/builtin.def"
#undef LW_PLACEMENT
  return placements;
}

}  // namespace leeway
