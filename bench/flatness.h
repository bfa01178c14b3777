// Whether a job grows with the iterations: memory and descriptors of all its processes, looked at while it
// trains.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "leeway/status.h"

namespace leeway::bench {

// Memory and open descriptors of a process, from /proc.
struct ProcessMemory {
  double anon_kib = 0;   // RssAnon: heap and stacks
  double shmem_kib = 0;  // RssShmem: shared memory, the process's own and what it has mapped of others
  double descriptors = 0;
};
// An error when the process is gone.
[[nodiscard]] Result<ProcessMemory> MemoryOf(pid_t process);

struct FlatnessOptions {
  std::string transport = "auto";
  std::uint64_t iterations = 20'000;  // at least 100; a week of one a second is 604,800
};

// One process over the run. Growth is from the tenth of the run after the warm-up (its first tenth) to the
// last tenth: medians of each, so that frames in flight at one look do not count.
struct FlatnessRow {
  std::string process;  // "server", "worker 0", "worker 1"
  ProcessMemory after_warm_up, at_end;
  [[nodiscard]] double anon_growth_kib() const { return at_end.anon_kib - after_warm_up.anon_kib; }
  [[nodiscard]] double shmem_growth_kib() const { return at_end.shmem_kib - after_warm_up.shmem_kib; }
  [[nodiscard]] double descriptors_growth() const { return at_end.descriptors - after_warm_up.descriptors; }
};

struct FlatnessReport {
  FlatnessOptions options;
  std::vector<FlatnessRow> rows;
  double iterations_s = 0;
  double growth_kib_max = 0;  // of all processes, of either kind of memory
  double descriptors_growth_max = 0;
};

// REQUIRES: at least 10 looks, evenly spread over the run.
[[nodiscard]] FlatnessRow Growth(const std::string& process, const std::vector<ProcessMemory>& looks);
[[nodiscard]] Status Check(const FlatnessOptions& options);
// Forks: call it before the process has threads.
[[nodiscard]] Result<FlatnessReport> RunFlatness(const FlatnessOptions& options);

}  // namespace leeway::bench
