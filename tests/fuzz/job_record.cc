// Any text as the record of a run: no crash, and an error names the file. An accepted record makes a
// scenario, and is the same record after a write and a read.
#include "calibrate/job_record.h"

#include <string>
#include <string_view>

#include "base/check.h"
#include "calibrate/recorded_scenario.h"
#include "fuzz_target.h"
#include "scenario/keys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leeway;  // NOLINT(google-build-using-namespace): one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<app::JobRecord> record = app::ParseJobRecord(text, "run.json");
  if (!record.ok()) {
    LW_CHECK(record.status().message().starts_with("run.json"), "{}", record.status().ToString());
    return 0;
  }
  const std::string written = app::ToJson(*record);
  const Result<app::JobRecord> again = app::ParseJobRecord(written, "again.json");
  LW_CHECK(again.ok(), "{}\n{}", again.status().ToString(), written);
  LW_CHECK(app::ToJson(*again) == written, "{}", written);
  const Status whole = scenario::CheckWhole(app::ScenarioOf(*record, "run"));
  LW_CHECK(whole.ok() || !whole.message().empty());
  return 0;
}
