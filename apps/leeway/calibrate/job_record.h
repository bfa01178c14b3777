// JobRecord: what was measured of one real run of a job: what its workers compute, what links and servers
// cost, and how long it took. Never a wait: those are what a simulation of it finds out.
//
// Written by `leeway run --record`, read by `leeway sim --from-run`; docs/calibration.md has its fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway::app {

inline constexpr std::uint64_t kRecordVersion = 2;

struct RecordedTable {
  std::string name;
  std::uint64_t elements = 0;
  double ready_share = 1;  // of an iteration's computing, after which its gradient is ready
};

struct RecordedWorker {
  std::uint64_t iterations = 0;
  double cpu_s = 0;        // of an iteration, on average
  double elsewhere_s = 0;  // of an iteration, on average: no core was needed
  double slowed = 1;       // slept until it had taken so many times as long (--slow-worker)
  // Processor times of its iterations in equal steps of their rank, from the shortest to the longest.
  std::vector<double> cpu_s_quantiles;
};

// The machine that all of it ran on.
struct RecordedHost {
  std::uint32_t cores = 1;
  double others_cores = 0;  // that other processes, and the host of a virtual machine, took on average
};

// The costs of one exchange, without its waits.
struct ExchangeCosts {
  double latency_s = 0;  // one way
  double bytes_per_second = 1e9;
  double per_message_s = 0;  // of a shard's processor, without any bytes
  double per_byte_s = 0;     // ... for each byte that comes or goes
};

struct JobRecord {
  JobOptions job;
  std::string transport = "auto";
  std::vector<RecordedTable> tables;
  std::vector<RecordedWorker> workers;  // by rank
  RecordedHost host;
  ExchangeCosts costs;
  std::uint64_t iterations = 0;  // of all workers together, without the first of each
  bool pooled = false;           // they drew them from a BatchPool
  double seconds = 0;            // that those took, from the first worker's to the last
};

[[nodiscard]] std::string ToJson(const JobRecord& record);
// `name` is that of the file, for messages.
[[nodiscard]] Result<JobRecord> ParseJobRecord(std::string_view text, const std::string& name);
[[nodiscard]] Result<JobRecord> ReadJobRecord(const std::string& path);

}  // namespace leeway::app
