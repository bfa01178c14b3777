#include "bench/cluster/ceiling.h"

#include <algorithm>
#include <numeric>

namespace leeway::bench {
namespace {

// Bytes that pass one card, out of it and into it.
struct CardFlow {
  double push_out = 0, push_in = 0, pull_out = 0, pull_in = 0;
};

void TakeCard(const CardFlow& flow, CardBytes& most) {
  most.push = std::max({most.push, flow.push_out, flow.push_in});
  most.pull = std::max({most.pull, flow.pull_out, flow.pull_in});
  most.both = std::max({most.both, flow.push_out + flow.pull_out, flow.push_in + flow.pull_in});
}

}  // namespace

CardBytes MostLoadedCard(const ClusterLoad& load) {
  const double all = std::accumulate(load.server_bytes.begin(), load.server_bytes.end(), 0.0);
  CardBytes most;
  const double workers = load.workers;
  if (!load.together) {
    TakeCard({.push_out = all, .pull_in = all}, most);
    for (const double bytes : load.server_bytes)
      TakeCard({.push_in = workers * bytes, .pull_out = workers * bytes}, most);
    return most;
  }
  const std::size_t machines = std::max<std::size_t>(load.workers, load.server_bytes.size());
  for (std::size_t i = 0; i < machines; ++i) {
    const double own = i < load.server_bytes.size() ? load.server_bytes[i] : 0;
    const double others = i < load.workers ? workers - 1 : workers;
    const double away = i < load.workers ? all - own : 0;
    TakeCard({.push_out = away, .push_in = others * own, .pull_out = others * own, .pull_in = away}, most);
  }
  return most;
}

double LeastStepSeconds(const CeilingPlan& plan) {
  if (!plan.rate) return plan.step_s;
  const CardBytes most = MostLoadedCard(plan.load);
  const double share = plan.exchanges_a_step / plan.rate->bytes_s();
  if (plan.overlaps) return std::max(plan.step_s, most.both * share);
  return plan.step_s + (most.push + most.pull) * share;
}

double SpeedupCeiling(const CeilingPlan& plan) {
  return plan.load.workers * plan.step_s / LeastStepSeconds(plan);
}

}  // namespace leeway::bench
