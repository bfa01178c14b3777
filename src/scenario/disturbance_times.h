// DisturbanceTimes: begins and ends the disturbances of one run at their times. Hashes of (seed, disturbance,
// member, number) draw the random ones, so that two policies meet the same machines.
//
// Thread rule: that of the queue. Lifetime rule: it outlives the queue's events.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "scenario/disturbance.h"
#include "sim/event_queue.h"

namespace leeway::scenario {

class DisturbanceTimes {
 public:
  using Tell = std::function<void(const Disturbance&, const Member&)>;
  // Borrows `queue` and `scenario`. A disturbance without an end gets no `end`.
  DisturbanceTimes(sim::EventQueue& queue, const Scenario& scenario, std::vector<Disturbance> all,
                   std::uint64_t seed, Tell begin, Tell end);

  // Time 0 of the disturbances is now. Calls `begin` at once for those that begin now, except for kills,
  // because the caller may be the node that dies.
  void Start();
  [[nodiscard]] const std::vector<Disturbance>& all() const { return all_; }

 private:
  void Begin(const Disturbance& disturbance, const Member& member);
  // Begins disturbance `number` of a member for the time `round` after a random while.
  void BeginLater(std::size_t number, const Member& member, std::uint64_t round);
  [[nodiscard]] Duration Draw(std::size_t number, const Member& member, std::uint64_t round,
                              std::uint64_t what, double mean_s) const;

  sim::EventQueue& queue_;
  const Scenario& scenario_;
  const std::vector<Disturbance> all_;
  const std::uint64_t seed_;
  const Tell begin_, end_;
};

}  // namespace leeway::scenario
