// Any text as a scenario file: no crash, an error names the file and a line, and an accepted scenario is the
// same after a write and a read.
#include "simulate/scenario_file.h"

#include <string>
#include <string_view>

#include "base/check.h"
#include "fuzz_target.h"
#include "scenario/keys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leeway;  // NOLINT(google-build-using-namespace): one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<app::ScenarioText> file = app::ParseScenario(text, "s.toml");
  if (!file.ok()) {
    LW_CHECK(file.status().message().starts_with("s.toml"), "{}", file.status().ToString());
    return 0;
  }
  app::ScenarioFile all;
  if (const Status taken = app::ApplyLines(*file, all); !taken.ok()) {
    LW_CHECK(taken.message().starts_with("s.toml line "), "{}", taken.ToString());
    return 0;
  }
  const Status whole = scenario::CheckWhole(all.scenario);
  LW_CHECK(whole.ok() || !whole.message().empty());
  const std::string written = scenario::ToToml(all.scenario);
  const Result<app::ScenarioText> again = app::ParseScenario(written, "again.toml");
  LW_CHECK(again.ok(), "{}\n{}", again.status().ToString(), written);
  app::ScenarioFile same;
  const Status taken = app::ApplyLines(*again, same);
  LW_CHECK(taken.ok(), "{}\n{}", taken.ToString(), written);
  LW_CHECK(scenario::ToToml(same.scenario) == written, "{}", written);
  return 0;
}
