#include "sim/faults.h"

#include "base/hash.h"

namespace leeway::sim {

std::string_view FaultKindName(FaultKind kind) {
  static constexpr std::string_view kNames[kFaultKinds] = {"cut", "delay", "one_way", "two_way", "refused"};
  return kNames[static_cast<std::size_t>(kind)];
}

FaultCounters& FaultCounters::operator+=(const FaultCounters& other) {
  for (std::size_t i = 0; i < kFaultKinds; ++i) kinds[i] += other.kinds[i];
  cuts_inside_frame += other.cuts_inside_frame;
  cuts_before_verdict += other.cuts_before_verdict;
  return *this;
}

FaultPlan::FaultPlan(EventQueue& queue, SimNetwork& network, const FaultOptions& options, std::uint64_t seed)
    : queue_(queue), network_(network), options_(options), random_(seed) {
  network_.Watch(this);
}

FaultPlan::~FaultPlan() { network_.Watch(nullptr); }

void FaultPlan::Start() { Next(); }

void FaultPlan::Next() {
  const Duration when = queue_.now() + random_.Exponential(options_.gap_mean);
  if (when > options_.span) return;
  queue_.At(when, [this] {
    Strike();
    Next();
  });
}

void FaultPlan::Strike() {
  const auto kind = static_cast<FaultKind>(random_.Below(kFaultKinds));
  const Duration longest = random_.Chance(options_.long_share) ? options_.long_max : options_.short_max;
  const Duration until = queue_.now() + random_.Between(Duration::zero(), longest);
  const std::optional<SimNetwork::LiveConnection> at = Pick();
  if (!at.has_value()) return;
  switch (kind) {
    case FaultKind::kCut:
      return Cut();
    case FaultKind::kDelay:
      return network_.impairments().Slow(at->hosts[0], at->hosts[1],
                                         random_.Between(Duration::zero(), options_.short_max), until,
                                         Name(kind));
    case FaultKind::kOneWay:
      return OneWay(*at, until);
    case FaultKind::kTwoWay: {
      const FaultId fault = Name(kind);
      network_.impairments().Stall(at->hosts[0], at->hosts[1], until, fault);
      return network_.impairments().Stall(at->hosts[1], at->hosts[0], until, fault);
    }
    case FaultKind::kRefused:
      // hosts[1] is the one that listens. The cut sends its peer there.
      network_.impairments().Refuse(at->hosts[1], until, Name(kind));
      return network_.Cut(at->number);
  }
}

void FaultPlan::Cut() {
  const std::uint64_t how = random_.Below(4);
  if (how == 0) {
    ++cuts_armed_;
  } else if (how == 1) {
    ++verdict_cuts_armed_;
  } else if (const auto at = Pick(); at.has_value()) {
    network_.Cut(at->number);
  }
}

void FaultPlan::OneWay(const SimNetwork::LiveConnection& at, Duration until) {
  const std::uint64_t side = random_.Below(2);
  network_.impairments().Stall(at.hosts[side], at.hosts[1 - side], until, Name(FaultKind::kOneWay));
  if (random_.Chance(0.5)) return;
  queue_.At(until, [this, at] { CutBetween(at.hosts[0], at.hosts[1]); });
}

void FaultPlan::CutBetween(HostId a, HostId b) {
  for (const SimNetwork::LiveConnection& live : network_.Live()) {
    if ((live.hosts[0] == a && live.hosts[1] == b) || (live.hosts[0] == b && live.hosts[1] == a)) {
      network_.Cut(live.number);
    }
  }
}

std::optional<SimNetwork::LiveConnection> FaultPlan::Pick() {
  const std::vector<SimNetwork::LiveConnection> live = network_.Live();
  if (live.empty()) return std::nullopt;
  return live[random_.Below(live.size())];
}

FaultId FaultPlan::Name(FaultKind kind) {
  named_.push_back(kind);
  met_.push_back(false);
  return FaultId(named_.size());
}

void FaultPlan::OnFaultMet(FaultId fault) {
  const std::size_t index = fault.index() - 1;
  if (met_[index]) return;  // a cut in both directions is met in each, and is one
  met_[index] = true;
  ++counters_.kinds[static_cast<std::size_t>(named_[index])];
}

void FaultPlan::OnLeft(std::uint64_t connection, bool verdict) {
  std::uint32_t& armed = verdict && verdict_cuts_armed_ > 0 ? verdict_cuts_armed_ : cuts_armed_;
  // Not always the first: else it would be the same moment of an iteration again and again.
  if (armed == 0 || !random_.Chance(0.3)) return;
  --armed;
  // Some time later, so that a part of the bytes in flight has arrived.
  queue_.After(random_.Between(Duration::zero(), std::chrono::microseconds(80)),
               [this, connection] { network_.Cut(connection); });
}

FaultCounters FaultPlan::counters() const {
  FaultCounters counters = counters_;
  counters.kinds[static_cast<std::size_t>(FaultKind::kCut)] = network_.counters().cuts;
  counters.cuts_inside_frame = network_.counters().cuts_inside_frame;
  counters.cuts_before_verdict = network_.counters().verdicts_lost;
  return counters;
}

}  // namespace leeway::sim
