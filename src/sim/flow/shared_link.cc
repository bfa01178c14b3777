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
  if (!flows_.empty()) {
    served_ += Share() * static_cast<double>((until - served_at_).count());
    busy_ += until - served_at_;
  }
  served_at_ = until;
}

void SharedLink::SetRate(double bytes_per_second, Duration now) {
  Serve(now);
  rate_ = bytes_per_second * 1e-9;
}

void SharedLink::CountBusyAnew(Duration now) {
  Serve(now);
  busy_ = Duration::zero();
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

std::optional<double> SharedLink::Remove(std::uint32_t flow, Duration now) {
  const auto found = std::ranges::find(flows_, flow, &Flow::id);
  if (found == flows_.end()) return std::nullopt;
  Serve(now);
  const double left = std::max(0.0, found->ends - served_);
  flows_.erase(found);
  std::make_heap(flows_.begin(), flows_.end(), Later);
  return left;
}

}  // namespace leeway::sim
