#include "status/who_waits.h"

#include <fmt/format.h>

#include <algorithm>

#include "status/worker_now.h"
#include "terminal/table_text.h"

namespace leeway::app {

std::string WhoWaitsText(const JobStatus& status) {
  TableText table({"who", "step", "silent s", "what it does, and what it waits for"}, TableText::Last::kLeft);
  for (const WorkerStatus& worker : status.workers) {
    std::string what = DoesNow(status, worker);
    if (Waits(worker) && !worker.waiting_for.empty()) what += ": " + worker.waiting_for;
    table.Row({fmt::format("w{}", worker.rank),
               fmt::format("{}", std::max<std::int64_t>(worker.iteration, 0)),
               fmt::format("{:.1f}", worker.silent_s), what});
  }
  for (const ShardStatus& shard : status.shards) {
    table.Row(
        {fmt::format("s{} shard {}", shard.server, shard.shard), "", "",
         shard.waiting_for.empty() ? shard.state : fmt::format("{}: {}", shard.state, shard.waiting_for)});
  }
  return fmt::format("Who waits for what (the job is {}):\n{}", status.phase, table.Print());
}

std::string WhoWaitsText(const std::string& status_json) {
  const Result<JobStatus> status = ParseJobStatus(status_json);
  return status.ok() ? WhoWaitsText(*status) : status.status().message() + "\n";
}

}  // namespace leeway::app
