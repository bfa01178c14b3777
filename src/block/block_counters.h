// BlockCounters: what a block has done so far, as counts; a shard adds up those of its blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "block/block_events.h"
#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

// How often a lead was so many iterations. Bucket 15 is 15, the last one 16 and more. A negative lead counts
// as 0.
struct LeadHistogram {
  std::array<std::uint64_t, 17> buckets{};
  void Add(std::int64_t iterations) {
    const auto last = static_cast<std::int64_t>(buckets.size()) - 1;
    ++buckets[static_cast<std::size_t>(iterations < 0 ? 0 : (iterations > last ? last : iterations))];
  }
  LeadHistogram& operator+=(const LeadHistogram& other);
};

struct BlockCounters {
  std::uint64_t applied = 0, summed = 0, absent = 0, late_dropped = 0,
                refused = 0;  // verdicts given first time
  // Of those absent: before the first iteration of their worker, which tells so where it begins. Such an
  // absence stands for no gradient.
  std::uint64_t absent_before = 0;
  // Arrays that a worker has set; and those that the block has dropped or refused. Neither is a gradient, so
  // none of the verdicts above counts them.
  std::uint64_t assigned = 0, unassigned = 0;
  std::uint64_t late_applied = 0;  // of those applied or summed: for an iteration that was over
  std::uint64_t repeated = 0, gaps = 0, fenced = 0, moved = 0, windows = 0;
  std::uint64_t pulls = 0, answers = 0, unchanged = 0;
  std::uint64_t delayed = 0;  // pulls that had to wait (DPRs, per block)
  std::uint64_t advances = 0, steps = 0, hyper_mismatches = 0;
  std::uint64_t overflowed =
      0;  // aggregated steps that were not finite though every gradient was: values kept
  std::uint64_t no_memory =
      0;  // pushes and initial values that were refused, and steps left out, for want of it
  std::uint64_t resumed = 0;        // workers that went on here under a new term
  std::uint64_t switches = 0;       // of the synchronization model or the apply mode
  std::uint64_t compensated = 0;    // pushes that were delay-compensated (apply option dc),
  std::uint64_t uncompensated = 0;  //   and those that were not, as what they were computed on is not kept

  // How long pulls that are answered now had waited: because the model said later, and for initial values or
  // an epoch. A pull that a newer one replaced, or whose worker left, is not in it.
  Duration delayed_wait{}, blocked_wait{};
  // Of delayed_wait, by the member that they waited for: the one whose contribution, or end, let them go.
  // Workers with little in it may be added up under kNoWorker, so that a block keeps few of them.
  std::map<WorkerId, Duration> waited_for;
  // The lead of every answer to a member: progress + 1 - v_train.
  LeadHistogram lead_read;

  BlockCounters& operator+=(const BlockCounters& other);
  // REQUIRES: a verdict that uses up a sequence number.
  void CountVerdict(Verdict verdict);
  // Adds to waited_for and keeps it short.
  void ChargeWait(WorkerId to, Duration waited);
};

// The plain counts by name, as a shard reports them. `delayed` is not among them: a pull of several blocks is
// one DPR.
struct BlockCount {
  const char* name;
  std::uint64_t BlockCounters::*count;
};
inline constexpr BlockCount kBlockCounts[] = {{"applied", &BlockCounters::applied},
                                              {"summed", &BlockCounters::summed},
                                              {"absent", &BlockCounters::absent},
                                              {"absent_before", &BlockCounters::absent_before},
                                              {"late_dropped", &BlockCounters::late_dropped},
                                              {"late_applied", &BlockCounters::late_applied},
                                              {"assigned", &BlockCounters::assigned},
                                              {"unassigned", &BlockCounters::unassigned},
                                              {"refused", &BlockCounters::refused},
                                              {"repeated", &BlockCounters::repeated},
                                              {"gaps", &BlockCounters::gaps},
                                              {"fenced", &BlockCounters::fenced},
                                              {"moved", &BlockCounters::moved},
                                              {"windows", &BlockCounters::windows},
                                              {"pulls", &BlockCounters::pulls},
                                              {"answers", &BlockCounters::answers},
                                              {"unchanged", &BlockCounters::unchanged},
                                              {"advances", &BlockCounters::advances},
                                              {"steps", &BlockCounters::steps},
                                              {"hyper_mismatches", &BlockCounters::hyper_mismatches},
                                              {"overflowed", &BlockCounters::overflowed},
                                              {"no_memory", &BlockCounters::no_memory},
                                              {"resumed", &BlockCounters::resumed},
                                              {"switches", &BlockCounters::switches},
                                              {"compensated", &BlockCounters::compensated},
                                              {"uncompensated", &BlockCounters::uncompensated}};

}  // namespace leeway
