// FaultPlan: draws the faults of a simulated network and their times from a seed.
//
// Faults come at random times from the start of the world to `span`, each of a random kind at a random place;
// each heals soon after. Half of the connection cuts wait for traffic, so that they fall among bytes in
// flight.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/event_queue.h"
#include "sim/seeded_random.h"
#include "sim/sim_network.h"

namespace leeway::sim {

enum class FaultKind : std::uint8_t {
  kCut,      // a connection is lost; each end learns of it by itself
  kDelay,    // bytes of one direction between two hosts take much longer for a while
  kOneWay,   // nothing passes in one direction for a while; then it goes on, or the connections break
  kTwoWay,   // nothing passes in either direction for a while
  kRefused,  // connects to a host are refused for a while, after its connections were cut
};
inline constexpr std::size_t kFaultKinds = 5;
[[nodiscard]] std::string_view FaultKindName(FaultKind kind);

struct FaultOptions {
  Duration span = std::chrono::milliseconds(400);      // no fault starts later
  Duration gap_mean = std::chrono::milliseconds(15);   // between faults
  Duration short_max = std::chrono::milliseconds(40);  // most last at most this long,
  Duration long_max = std::chrono::milliseconds(900);  // some this long, so that peers are found silent
  double long_share = 0.08;
};

// Counts the faults that took effect: a fault that met no traffic does not count.
struct FaultCounters {
  std::uint64_t kinds[kFaultKinds] = {};
  std::uint64_t cuts_inside_frame = 0;
  std::uint64_t cuts_before_verdict = 0;  // connections lost while a verdict was on its way

  FaultCounters& operator+=(const FaultCounters& other);
};

class FaultPlan final : private NetworkWatcher {
 public:
  // Borrows both. Nothing happens before Start.
  FaultPlan(EventQueue& queue, SimNetwork& network, const FaultOptions& options, std::uint64_t seed);
  ~FaultPlan() override;
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;

  void Start();
  // Every fault has healed by then.
  [[nodiscard]] Duration healed_by() const { return options_.span + options_.long_max; }
  [[nodiscard]] FaultCounters counters() const;

 private:
  void Next();
  void Strike();
  void Cut();
  void OneWay(const SimNetwork::LiveConnection& at, Duration until);
  void OnFaultMet(FaultId fault) override;
  void OnLeft(std::uint64_t connection, bool verdict) override;
  [[nodiscard]] std::optional<SimNetwork::LiveConnection> Pick();
  [[nodiscard]] FaultId Name(FaultKind kind);
  void CutBetween(HostId a, HostId b);

  EventQueue& queue_;
  SimNetwork& network_;
  const FaultOptions options_;
  SeededRandom random_;
  std::vector<FaultKind> named_;          // by FaultId - 1
  std::vector<bool> met_;                 // by FaultId - 1
  std::uint32_t cuts_armed_ = 0;          // cut the next connection on which bytes leave
  std::uint32_t verdict_cuts_armed_ = 0;  // ... on which verdicts are under way
  FaultCounters counters_;
};

}  // namespace leeway::sim
