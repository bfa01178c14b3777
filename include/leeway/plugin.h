// Plug-ins: shared libraries that add policies of a user's own to Leeway (`leeway run --plugin mine.so`).
//
//   LEEWAY_PLUGIN(registries) {
//     registries.AddPlacement("mine", MakeMine);
//   }
//
// A plug-in is built against these headers alone, and links no library of Leeway. It calls nothing but inline
// functions and virtual ones, so it works in every process: the program, a user's own, Python. Compiler and
// standard library are those of the process that loads it. docs/adding-a-policy.md shows one being made.
//
// Leeway loads a plug-in before a job begins, and never unloads it. Policies of a plug-in follow the rules of
// their interfaces, and throw nothing: an exception from one ends the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <version>

#include "leeway/exchange.h"
#include "leeway/optimizer.h"
#include "leeway/placement.h"
#include "leeway/policy_arguments.h"
#include "leeway/status.h"
#include "leeway/sync_model.h"

namespace leeway {

// Changes with every change to a header that a plug-in includes. A library of another version is refused.
inline constexpr std::uint32_t kPluginVersion = 1;

// The standard library lays out strings and vectors, which the interfaces pass.
#if defined(_LIBCPP_VERSION)
inline constexpr std::string_view kPluginStandardLibrary = "libc++";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
inline constexpr std::string_view kPluginStandardLibrary = "libstdc++";
#else
inline constexpr std::string_view kPluginStandardLibrary = "libstdc++, old strings";
#endif

// The part of a plug-in that is read before any function of it is called. `version` comes first in every
// version.
struct PluginHead {
  std::uint32_t version = kPluginVersion;
  char standard_library[28] = {};
};

[[nodiscard]] constexpr PluginHead MakePluginHead() {
  PluginHead head;
  for (std::size_t i = 0; i < kPluginStandardLibrary.size(); ++i) {
    head.standard_library[i] = kPluginStandardLibrary[i];
  }
  return head;
}

// Makes a policy from the arguments of its spec, or says why it cannot.
template <typename Policy>
using PolicyFactory = Result<std::unique_ptr<Policy>> (*)(const PolicyArguments& arguments);

// Where a plug-in adds its policies, under the names that specs will use. A name that exists already, or that
// no spec can hold, is an error: Leeway then refuses the whole plug-in.
class PluginRegistries {
 public:
  virtual ~PluginRegistries() = default;
  virtual void AddSyncModel(std::string_view name, PolicyFactory<SyncModel> make) = 0;
  virtual void AddExchange(std::string_view name, PolicyFactory<ExchangePolicy> make) = 0;
  virtual void AddOptimizer(std::string_view name, PolicyFactory<Optimizer> make) = 0;
  virtual void AddPlacement(std::string_view name, PolicyFactory<Placement> make) = 0;
};

}  // namespace leeway

// Begins the function that adds the policies of a plug-in. Once in each library.
#define LEEWAY_PLUGIN(registries)                                                          \
  extern "C" {                                                                             \
  [[gnu::visibility("default")]] extern const leeway::PluginHead leeway_plugin_head;       \
  constexpr leeway::PluginHead leeway_plugin_head = leeway::MakePluginHead();              \
  [[gnu::visibility("default")]] void leeway_plugin(leeway::PluginRegistries& registries); \
  }                                                                                        \
  void leeway_plugin([[maybe_unused]] leeway::PluginRegistries& registries)
