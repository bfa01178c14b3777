// The ceiling of a row: the speed that the rates of the cards allow, whatever the program does.
#pragma once

#include <optional>
#include <vector>

#include "bench/cluster/link_rate.h"

namespace leeway::bench {

// A cluster in which every worker exchanges the whole model.
struct ClusterLoad {
  std::uint32_t workers = 1;
  std::vector<double> server_bytes;  // of the model, by server
  // Worker i and server i share a card, and what they exchange does not pass it. False: each has its own.
  bool together = true;
};

// Bytes of one exchange of all workers through the most loaded card, in its busier direction.
struct CardBytes {
  double push = 0, pull = 0;
  // Of both together, if pushes and pulls are under way at the same time.
  double both = 0;
};
[[nodiscard]] CardBytes MostLoadedCard(const ClusterLoad& load);

struct CeilingPlan {
  ClusterLoad load;
  double step_s = 0;             // of compute
  bool overlaps = true;          // exchanges hide behind compute; false: compute, pushes and pulls in turn
  double exchanges_a_step = 1;   // below 1 where a policy skips some
  std::optional<LinkRate> rate;  // nothing: no limit
};
// The least time of a step of one worker.
[[nodiscard]] double LeastStepSeconds(const CeilingPlan& plan);
// How many times the steps per second of one machine alone all workers can reach.
[[nodiscard]] double SpeedupCeiling(const CeilingPlan& plan);

}  // namespace leeway::bench
