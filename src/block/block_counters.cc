#include "block/block_counters.h"

#include <cstddef>

#include "base/check.h"

namespace leeway {

namespace {
// Summed over all blocks of a shard with every beat. The few that hold up others are what one looks for.
constexpr std::size_t kWaitedForMax = 32;
}  // namespace

LeadHistogram& LeadHistogram::operator+=(const LeadHistogram& other) {
  for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i] += other.buckets[i];
  return *this;
}

BlockCounters& BlockCounters::operator+=(const BlockCounters& other) {
  for (const auto& [name, count] : kBlockCounts) this->*count += other.*count;
  delayed += other.delayed;
  delayed_wait += other.delayed_wait;
  blocked_wait += other.blocked_wait;
  for (const auto& [worker, waited] : other.waited_for) waited_for[worker] += waited;
  lead_read += other.lead_read;
  return *this;
}

void BlockCounters::CountVerdict(Verdict verdict) {
  switch (verdict) {
    case Verdict::kApplied:
      ++applied;
      return;
    case Verdict::kSummed:
      ++summed;
      return;
    case Verdict::kAbsent:
      ++absent;
      return;
    case Verdict::kLateDropped:
      ++late_dropped;
      return;
    case Verdict::kRefused:
      ++refused;
      return;
    default:
      LW_CHECK(false, "verdict {} consumes no sequence", static_cast<int>(verdict));
  }
}

void BlockCounters::ChargeWait(WorkerId to, Duration waited) {
  if (waited == Duration(0)) return;
  const auto found = waited_for.find(to);
  if (found != waited_for.end()) {
    found->second += waited;
    return;
  }
  if (waited_for.size() >= kWaitedForMax) {
    auto least = waited_for.end();
    for (auto it = waited_for.begin(); it != waited_for.end(); ++it) {
      if (it->first != kNoWorker && (least == waited_for.end() || it->second < least->second)) least = it;
    }
    const Duration rest = least->second;
    waited_for.erase(least);
    waited_for[kNoWorker] += rest;
  }
  waited_for[to] += waited;
}

}  // namespace leeway
