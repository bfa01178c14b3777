#include "sim/impairments.h"

#include <utility>

namespace leeway::sim {

void Impairments::Stall(HostId from, HostId to, Duration until, FaultId fault) {
  Impairment& stall = stalls_[{from, to}];
  if (until > stall.until) stall = {until, {}, fault, false};
}

void Impairments::Slow(HostId from, HostId to, Duration extra, Duration until, FaultId fault) {
  slow_[{from, to}] = {until, extra, fault, false};
}

void Impairments::Refuse(HostId host, Duration until, FaultId fault) {
  refusals_[host] = {until, {}, fault, false};
}

Duration Impairments::StalledUntil(HostId from, HostId to, Duration now) {
  const Impairment* const stall = Meet(stalls_, {from, to}, now);
  return stall != nullptr ? stall->until : Duration::zero();
}

Duration Impairments::ExtraDelay(HostId from, HostId to, Duration now) {
  const Impairment* const slow = Meet(slow_, {from, to}, now);
  return slow != nullptr ? slow->extra : Duration::zero();
}

bool Impairments::IsRefused(HostId host, Duration now) { return Meet(refusals_, host, now) != nullptr; }

template <typename Key>
const Impairments::Impairment* Impairments::Meet(std::map<Key, Impairment>& impairments, const Key& key,
                                                 Duration now) {
  const auto found = impairments.find(key);
  if (found == impairments.end() || found->second.until <= now) return nullptr;
  Impairment& met = found->second;
  if (!std::exchange(met.met, true) && watcher_ != nullptr && met.fault != FaultId{})
    watcher_->OnFaultMet(met.fault);
  return &met;
}

}  // namespace leeway::sim
