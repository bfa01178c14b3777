#include "sim/flow/shared_link.h"

#include <algorithm>
#include <cmath>

#include "sim/nanoseconds.h"

namespace leeway::sim {

bool SharedLink::Later(const Flow& a, const Flow& b) {
  if (a.ends != b.ends) return a.ends > b.ends;
  return static_cast<std::int32_t>(a.sequence - b.sequence) > 0;
}

void SharedLink::Serve(Duration until) {
  if (!flows_.empty()) served_ += Share() * static_cast<double>((until - served_at_).count());
  served_at_ = until;
}

void SharedLink::Begin(std::uint32_t flow, double bytes, Duration now) {
  Serve(now);
  if (flows_.empty()) {
    served_ = 0;  // a number that only grows loses its low digits
    next_sequence_ = 0;
  }
  flows_.push_back({served_ + bytes, next_sequence_++, flow});
  std::push_heap(flows_.begin(), flows_.end(), Later);
}

std::optional<Duration> SharedLink::NextEnd() const {
  if (flows_.empty()) return std::nullopt;
  const double left = std::max(0.0, flows_.front().ends - served_);
  const double takes = std::ceil(left / Share());
  return served_at_ + Nanoseconds(takes);
}

std::optional<std::uint32_t> SharedLink::TakeEnded(Duration now) {
  if (flows_.empty()) return std::nullopt;
  Serve(now);
  // Times are whole nanoseconds: a flow that ends within the next one has ended.
  if (flows_.front().ends > served_ + std::min(rate_, flow_max_)) return std::nullopt;
  const std::uint32_t flow = flows_.front().id;
  std::pop_heap(flows_.begin(), flows_.end(), Later);
  flows_.pop_back();
  return flow;
}

}  // namespace leeway::sim
