// Any text as a job file: no crash, an error names the file and a line, and flags would accept every accepted
// value.
#include "role/job_file.h"

#include <string>
#include <string_view>

#include "base/check.h"
#include "fuzz_target.h"
#include "leeway/options.h"
#include "role/job_flags.h"
#include "sync/sync_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leeway;  // NOLINT(google-build-using-namespace): one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<app::FlagFile> file = app::ParseJobFile(text, "job.toml");
  if (!file.ok()) {
    LW_CHECK(file.status().message().starts_with("job.toml"), "{}", file.status().ToString());
    return 0;
  }
  std::uint32_t line = 0;
  for (const app::FileValue& value : file->values) {
    LW_CHECK(value.line >= line && value.line > 0, "line {} after {}", value.line, line);
    line = value.line;
  }
  static const Policies policies = Policies::Builtin();
  JobOptions job;
  app::FlagSet flags;
  app::DeclareJobFlags(flags, job, policies);
  const Status taken = app::TakeFile(*file, flags, /*first=*/false, [](const app::Flag&) { return false; });
  if (!taken.ok()) {
    LW_CHECK(taken.message().starts_with("job.toml line "), "{}", taken.ToString());
    return 0;
  }
  for (const std::string& rule : job.rules) {
    const Result<SyncRule> parsed = ParseSyncRule(rule);
    LW_CHECK(parsed.ok(), "{}", parsed.status().ToString());
  }
  const Status checked = app::CheckJobFlags(job, policies);
  LW_CHECK(checked.ok() || !checked.message().empty());
  return 0;
}
