#include "block/block_counters.h"

namespace leeway {

BlockCounters& BlockCounters::operator+=(const BlockCounters& other) {
  applied += other.applied;
  summed += other.summed;
  absent += other.absent;
  late_dropped += other.late_dropped;
  refused += other.refused;
  repeated += other.repeated;
  gaps += other.gaps;
  fenced += other.fenced;
  moved += other.moved;
  windows += other.windows;
  pulls += other.pulls;
  answers += other.answers;
  unchanged += other.unchanged;
  delayed += other.delayed;
  advances += other.advances;
  steps += other.steps;
  hyper_mismatches += other.hyper_mismatches;
  overflowed += other.overflowed;
  resumed += other.resumed;
  return *this;
}

}  // namespace leeway
