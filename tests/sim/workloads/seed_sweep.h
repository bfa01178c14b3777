// SweepSeeds: runs a simulation for each of several seeds, on several threads. Simulations share nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace leeway::sim {

// Calls run(seed) for `count` seeds from `first` on. take(index, report) gets each report as it comes, one
// call at a time; if it returns false, no further run begins.
template <typename Run, typename Take>
void SweepSeeds(std::uint64_t first, std::uint64_t count, std::uint64_t threads, Run run, Take take) {
  std::mutex mutex;  // guards the variables below and `take`
  std::uint64_t next = 0;
  bool stop = false;
  const auto work = [&] {
    for (;;) {
      std::uint64_t index = 0;
      {
        const std::lock_guard lock(mutex);
        if (stop || next == count) return;
        index = next++;
      }
      const auto report = run(first + index);
      const std::lock_guard lock(mutex);
      if (!take(index, report)) stop = true;
    }
  };
  std::vector<std::thread> others;
  for (std::uint64_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace leeway::sim
