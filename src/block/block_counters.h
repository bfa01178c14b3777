// BlockCounters: what a block has done so far, as counts.
#pragma once

#include <cstdint>

namespace leeway {

struct BlockCounters {
  std::uint64_t applied = 0, summed = 0, absent = 0, late_dropped = 0,
                refused = 0;  // verdicts given first time
  std::uint64_t repeated = 0, gaps = 0, fenced = 0, moved = 0, windows = 0;
  std::uint64_t pulls = 0, answers = 0, unchanged = 0;
  std::uint64_t delayed = 0;  // pulls that had to wait (DPRs, per block)
  std::uint64_t advances = 0, steps = 0, hyper_mismatches = 0;
  std::uint64_t overflowed =
      0;                      // aggregated steps that were not finite though every gradient was: values kept
  std::uint64_t resumed = 0;  // workers that went on here under a new term

  BlockCounters& operator+=(const BlockCounters& other);
};

}  // namespace leeway
