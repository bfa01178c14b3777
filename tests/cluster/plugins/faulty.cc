// Plug-ins that Leeway must refuse, one for each FAULT_ that CMakeLists.txt defines.
#include <stdexcept>

#include "leeway/plugin.h"

namespace {

using leeway::Placement;
using leeway::PlacementPtr;
using leeway::PolicyArguments;
using leeway::Result;

[[maybe_unused]] Result<PlacementPtr> MakeNothing(const PolicyArguments&) { return PlacementPtr(); }
[[maybe_unused]] Result<PlacementPtr> Throw(const PolicyArguments&) {
  throw std::runtime_error("no placement today");
}

}  // namespace

#if defined(FAULT_NO_PLUGIN)
extern "C" int an_innocent_library() { return 1; }
#elif defined(FAULT_OTHER_VERSION) || defined(FAULT_OTHER_LIBRARY)
extern "C" {
[[gnu::visibility("default")]] extern const leeway::PluginHead leeway_plugin_head;
#if defined(FAULT_OTHER_VERSION)
constexpr leeway::PluginHead leeway_plugin_head = {leeway::kPluginVersion + 1, {}};
#else
constexpr leeway::PluginHead leeway_plugin_head = {leeway::kPluginVersion, "another library"};
#endif
[[gnu::visibility("default")]] void leeway_plugin(leeway::PluginRegistries&) {
  __builtin_trap();
}  // nobody may call it
}
#elif defined(FAULT_NO_FUNCTION)
extern "C" {
[[gnu::visibility("default")]] extern const leeway::PluginHead leeway_plugin_head;
constexpr leeway::PluginHead leeway_plugin_head = leeway::MakePluginHead();
}
#elif defined(FAULT_THROWS)
LEEWAY_PLUGIN(registries) {
  registries.AddPlacement("half", MakeNothing);
  throw std::runtime_error("no luck today");
}
#elif defined(FAULT_THROWS_WHILE_LOADED)
namespace {
struct Impatient {
  Impatient() { throw std::runtime_error("not even loaded"); }
};
const Impatient kImpatient;
}  // namespace
LEEWAY_PLUGIN(registries) { registries.AddPlacement("never", MakeNothing); }
#elif defined(FAULT_TWICE)
LEEWAY_PLUGIN(registries) {
  registries.AddPlacement("mine", MakeNothing);
  registries.AddPlacement("mine", MakeNothing);
}
#elif defined(FAULT_NAME_TAKEN)
LEEWAY_PLUGIN(registries) { registries.AddPlacement("lpt", MakeNothing); }
#elif defined(FAULT_UNDEFINED)
extern "C" int nobody_defines_this();
LEEWAY_PLUGIN(registries) {
  if (nobody_defines_this() > 0) registries.AddPlacement("mine", MakeNothing);
}
#elif defined(FAULT_FACTORIES)
LEEWAY_PLUGIN(registries) {
  registries.AddPlacement("nothing", MakeNothing);
  registries.AddPlacement("throws", Throw);
}
#endif
