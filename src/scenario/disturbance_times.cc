#include "scenario/disturbance_times.h"

#include <cmath>
#include <utility>

#include "base/hash.h"
#include "sim/nanoseconds.h"

namespace leeway::scenario {
namespace {

// Names of draws; mixed with seed, disturbance, member and round.
constexpr std::uint64_t kPause = 1, kLength = 2;

}  // namespace

DisturbanceTimes::DisturbanceTimes(sim::EventQueue& queue, const Scenario& scenario,
                                   std::vector<Disturbance> all, std::uint64_t seed, Tell begin, Tell end)
    : queue_(queue),
      scenario_(scenario),
      all_(std::move(all)),
      seed_(seed),
      begin_(std::move(begin)),
      end_(std::move(end)) {}

void DisturbanceTimes::Start() {
  for (std::size_t number = 0; number < all_.size(); ++number) {
    const Disturbance& disturbance = all_[number];
    const bool is_now = disturbance.seconds == 0 && disturbance.what != Disturbance::What::kKill;
    for (const Member& member : MembersOf(disturbance, scenario_)) {
      if (disturbance.is_random) {
        BeginLater(number, member, 0);
      } else if (is_now) {
        Begin(disturbance, member);
      } else {
        queue_.After(sim::SecondsAsDuration(disturbance.seconds),
                     [this, &disturbance, member] { Begin(disturbance, member); });
      }
    }
  }
}

void DisturbanceTimes::Begin(const Disturbance& disturbance, const Member& member) {
  begin_(disturbance, member);
  if (!disturbance.for_s) return;
  queue_.After(sim::SecondsAsDuration(*disturbance.for_s),
               [this, &disturbance, member] { end_(disturbance, member); });
}

void DisturbanceTimes::BeginLater(std::size_t number, const Member& member, std::uint64_t round) {
  const Disturbance& disturbance = all_[number];
  queue_.After(Draw(number, member, round, kPause, disturbance.seconds),
               [this, number, &disturbance, member, round] {
                 begin_(disturbance, member);
                 if (!disturbance.for_s) return;
                 queue_.After(Draw(number, member, round, kLength, *disturbance.for_s),
                              [this, number, &disturbance, member, round] {
                                end_(disturbance, member);
                                BeginLater(number, member, round + 1);
                              });
               });
}

Duration DisturbanceTimes::Draw(std::size_t number, const Member& member, std::uint64_t round,
                                std::uint64_t what, double mean_s) const {
  const std::uint64_t bits = Hash64({seed_, number, member.is_server ? 1U : 0U, member.index, round, what});
  return sim::SecondsAsDuration(-std::log(UnitInterval(bits)) * mean_s);
}

}  // namespace leeway::scenario
