// Prints what a change of structure must leave as it is: the traces of simulated runs, the files of one
// checkpoint, the keys of the scheduler's status. check_golden.py compares it with the kept files.
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "sim/disk.h"
#include "sim/timeline.h"
#include "sim/workloads/churn.h"
#include "sim/workloads/ledger.h"
#include "sim/workloads/newest_checkpoint.h"
#include "sim/workloads/resume.h"
#include "sim/workloads/scheduler_death.h"
#include "sim/workloads/train.h"

namespace leeway::sim {
namespace {

constexpr std::uint64_t kSeeds = 50;

std::uint64_t HashText(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = Hash64({hash, static_cast<unsigned char>(c)});
  return hash;
}

std::uint64_t TimelineHash(std::uint64_t seed) {
  std::uint64_t hash = 0;
  for (const char* sync : {"bsp", "ssp:2", "pssp:2,0.5", "psp:2,5", "drop:3", "asp"}) {
    TimelineOptions options;
    options.seed = seed;
    options.sync = sync;
    for (const TimelineSpan& span : RunTimeline(options).spans) {
      hash = Hash64({hash, span.worker, static_cast<std::uint64_t>(span.iteration),
                     static_cast<std::uint64_t>(span.asked.count()),
                     static_cast<std::uint64_t>(span.began.count()),
                     static_cast<std::uint64_t>(span.ended.count())});
    }
  }
  return hash;
}

void PrintTraces() {
  struct Workload {
    std::string_view name;
    std::function<std::uint64_t(std::uint64_t seed)> run;
  };
  const Workload workloads[] = {
      {"ledger", [](std::uint64_t seed) { return RunLedger({.seed = seed}).trace_hash; }},
      {"ledger-switches",
       [](std::uint64_t seed) {
         LedgerOptions options;
         options.seed = seed;
         options.switches = 6;
         return RunLedger(options).trace_hash;
       }},
      {"churn", [](std::uint64_t seed) { return RunChurn({.seed = seed}).trace_hash; }},
      {"faults",
       [](std::uint64_t seed) {
         return RunChurn({.seed = seed, .all_roles = true, .states = true, .switches = 4}).trace_hash;
       }},
      {"scheduler-death", [](std::uint64_t seed) { return RunSchedulerDeath({.seed = seed}).trace_hash; }},
      {"resume", [](std::uint64_t seed) { return RunResume({.seed = seed, .sync = {}}).trace_hash; }},
      {"train", [](std::uint64_t seed) { return RunTrain({.problem = seed, .seed = seed}).trace_hash; }},
      {"timeline", TimelineHash},
  };
  for (const Workload& workload : workloads) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      fmt::print("trace {} {} {:016x}\n", workload.name, seed, workload.run(seed));
    }
  }
}

// Every path to a value, with [] for the items of a list.
void CollectKeys(const nlohmann::json& value, const std::string& path, std::set<std::string>& keys) {
  if (value.is_object()) {
    for (const auto& [key, below] : value.items()) CollectKeys(below, path + "/" + key, keys);
  } else if (value.is_array()) {
    for (const auto& below : value) CollectKeys(below, path + "[]", keys);
  } else {
    keys.insert(path);
  }
}

void PrintCheckpointAndStatus() {
  Disk disk({}, 1);
  TrainOptions options;
  options.optimizer = "adam";
  options.iterations = 30;
  options.faults = false;
  options.disk = &disk;
  options.checkpoint.folder = "/checkpoints";
  options.checkpoint.every_iterations = 10;
  const TrainReport report = RunTrain(options);
  for (const std::string& problem : report.problems) fmt::print("problem {}\n", problem);
  const std::string folder = NewestOn(disk, "/checkpoints");
  const auto entries = disk.List(folder);
  if (!entries.ok()) fmt::print("problem {}\n", entries.status().ToString());
  for (const Storage::Entry& entry : *entries) {
    const auto bytes = disk.Read(folder + "/" + entry.name, 0, std::uint64_t{1} << 30);
    fmt::print("checkpoint {} {} bytes {:016x}\n", entry.name, bytes->size(),
               HashText({reinterpret_cast<const char*>(bytes->data()), bytes->size()}));
  }
  std::set<std::string> keys;
  CollectKeys(nlohmann::json::parse(report.status), "", keys);
  for (const std::string& key : keys) fmt::print("status {}\n", key);
}

}  // namespace
}  // namespace leeway::sim

int main() {
  leeway::sim::PrintTraces();
  leeway::sim::PrintCheckpointAndStatus();
}
