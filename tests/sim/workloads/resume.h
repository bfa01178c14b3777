// The resume workload: a job that loses all power again and again, or is rolled back, and resumes each time
// from its newest checkpoint, under every kind of synchronization model, while workers and servers are
// killed.
//
// Every push adds 1 to a cell of its own: one cell for each rank and iteration, or for each batch of a pool.
// So the final values show, for every block, the pushes that count twice and those that are missing. The
// workload compares them with the job's report of losses.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leeway::sim {

struct ResumeOptions {
  std::uint64_t seed = 1;
  std::string sync;  // empty: drawn
};

struct ResumeCounts {
  std::uint64_t power_losses = 0;
  std::uint64_t resumed = 0;  // job lives that began from a checkpoint
  std::uint64_t fuzzy = 0;    // ... that was no exact cut
  std::uint64_t uneven = 0;   // ... from which ranks began in different iterations
  std::uint64_t worker_kills = 0, server_kills = 0, both_killed = 0;
  std::uint64_t pools = 0;     // runs that drew from one
  std::uint64_t reopened = 0;  // batches that a checkpoint had open
  std::uint64_t counted = 0;   // cells of all blocks
  std::uint64_t doubled = 0;
  std::uint64_t missing = 0;   // in blocks that others hold, or batches that no block holds
  std::uint64_t reported = 0;  // as lost or torn
  std::uint64_t unreported = 0;
  ResumeCounts& operator+=(const ResumeCounts& other);
  // All of them, with the names that reports have for them.
  static const std::pair<const char*, std::uint64_t ResumeCounts::*> kNamed[14];
};
inline constexpr std::pair<const char*, std::uint64_t ResumeCounts::*> ResumeCounts::kNamed[14] = {
    {"power_losses", &ResumeCounts::power_losses},
    {"resumed", &ResumeCounts::resumed},
    {"fuzzy", &ResumeCounts::fuzzy},
    {"uneven", &ResumeCounts::uneven},
    {"worker_kills", &ResumeCounts::worker_kills},
    {"server_kills", &ResumeCounts::server_kills},
    {"both_killed", &ResumeCounts::both_killed},
    {"pools", &ResumeCounts::pools},
    {"reopened_batches", &ResumeCounts::reopened},
    {"cells", &ResumeCounts::counted},
    {"doubled", &ResumeCounts::doubled},
    {"missing", &ResumeCounts::missing},
    {"reported", &ResumeCounts::reported},
    {"unreported", &ResumeCounts::unreported}};

struct ResumeReport {
  std::vector<std::string> problems;  // empty: no problem
  std::vector<std::string> log;       // of a failed run
  std::string replay;
  std::uint64_t trace_hash = 0, frames = 0;  // of all lives of the job
  ResumeCounts counts;

  [[nodiscard]] bool ok() const { return problems.empty(); }
  [[nodiscard]] std::string Failure() const;
};

[[nodiscard]] ResumeReport RunResume(const ResumeOptions& options);

}  // namespace leeway::sim
