#include <fmt/format.h>

#include <memory>

#include "cli/policy_check.h"
#include "command/commands.h"
#include "leeway/plugin.h"
#include "terminal/wrap_text.h"
#include "wire/kind.h"

namespace leeway::app {
namespace {

class VersionCommand final : public Command {
 public:
  std::string name() const override { return "version"; }
  std::string summary() const override {
    return "show version, protocol, build and the policies compiled in";
  }
  std::string lesson() const override { return {}; }
  void Declare(FlagSet&) override {}

  Result<int> Run() override {
    fmt::print("leeway {}\n", LEEWAY_VERSION);
    fmt::print("protocol    {} to {}\n", wire::kVersionMin, wire::kVersionMax);
    fmt::print("build       {}{}, {}\n", LEEWAY_BUILD_TYPE,
               std::string_view(LEEWAY_SANITIZERS).empty() ? "" : " with " LEEWAY_SANITIZERS, kCompiler);
    fmt::print("sync        {}\n", Wrapped(KnownSyncModels(), 12, 12));
    fmt::print("apply       aggregate, immediate\n");
    fmt::print("exchange    {}\n", Wrapped(KnownExchanges(), 12, 12));
    fmt::print("optimizer   {}\n", Wrapped(KnownOptimizers(), 12, 12));
    fmt::print("placement   {}\n", Wrapped(KnownPlacements(), 12, 12));
    fmt::print("plug-ins    version {}, {}\n", kPluginVersion, kPluginStandardLibrary);
    return 0;
  }

 private:
#ifdef __clang__
  static constexpr const char* kCompiler = "clang " __clang_version__;
#else
  static constexpr const char* kCompiler = "gcc " __VERSION__;
#endif
};

}  // namespace

std::unique_ptr<Command> NewVersionCommand() { return std::make_unique<VersionCommand>(); }

}  // namespace leeway::app
