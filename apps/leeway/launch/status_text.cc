#include "launch/status_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/quantity.h"
#include "launch/account_text.h"
#include "launch/sync_text.h"
#include "launch/who_waits.h"

namespace leeway::app {

std::string CheckpointsLine(const CheckpointsStatus& checkpoints) {
  if (checkpoints.folder.empty()) return {};
  std::string line = fmt::format("checkpoints: {} whole", checkpoints.completed);
  if (!checkpoints.last_folder.empty()) {
    line +=
        fmt::format(", the last of iteration {} at {}", checkpoints.last_iteration, checkpoints.last_folder);
  }
  if (checkpoints.given_up > 0)
    line += fmt::format("; {} given up, the last: {}", checkpoints.given_up, checkpoints.last_failure);
  return line;
}

std::string StatusText(const JobStatus& status) {
  std::string text =
      fmt::format("Job \"{}\": {}, for {}\n", status.job, status.phase, ShortTime(status.uptime_s));
  for (const PoolStatus& pool : status.pools) {
    text += fmt::format("  pool \"{}\": {} of {} batches done\n", pool.name, pool.done, pool.batches);
  }
  if (const std::string line = CheckpointsLine(status.checkpoints); !line.empty()) {
    text += fmt::format("  {}{}\n", line,
                        status.checkpoints.last_folder.empty()
                            ? ""
                            : fmt::format(" ({} ago)", ShortTime(status.checkpoints.last_age_s)));
  }
  if (const std::string sync = SyncText(status); !sync.empty()) text += sync + "\n";
  return text + WhoWaitsText(status) + AccountText(status);
}

std::string StatusJson(const std::string& status_json) {
  const Result<JobStatus> status = ParseJobStatus(status_json);
  nlohmann::json json = nlohmann::json::parse(status_json, nullptr, /*allow_exceptions=*/false);
  if (!status.ok() || !json.is_object()) return status_json;
  json["account"] = AccountJson(*status);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace leeway::app
