// SharedLink: one direction of one network card, as a processor-sharing queue. All flows that it serves get
// the same share of its rate at every moment.
//
// It knows no events: its driver asks when the next flow ends, and comes back then. It counts service in
// virtual time: the bytes that one flow has got since the link was last idle. So a flow that comes or goes
// costs O(log n) and changes nothing for the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "leeway/env.h"

namespace leeway::sim {

class SharedLink {
 public:
  // Limits each flow to `flow_max` of it: a thread runs on one core, however many are free.
  explicit SharedLink(double bytes_per_second, double flow_max = std::numeric_limits<double>::infinity())
      : rate_(bytes_per_second * 1e-9), flow_max_(flow_max * 1e-9) {}

  // From now on all flows together have this rate. REQUIRES: times never go back from call to call.
  void SetRate(double bytes_per_second, Duration now);
  // A flow of so many bytes begins.
  void Begin(std::uint32_t flow, double bytes, Duration now);
  // When the next flow ends, if no flow begins before; nullopt without flows.
  [[nodiscard]] std::optional<Duration> NextEnd() const;
  // Removes and returns a flow that has ended by `now`, in the order of their ends.
  std::optional<std::uint32_t> TakeEnded(Duration now);
  // Removes a flow and returns the bytes that it still needs; nullopt if the link has no such flow. O(n).
  std::optional<double> Remove(std::uint32_t flow, Duration now);

  [[nodiscard]] std::size_t flows() const { return flows_.size(); }
  // How long it has had flows, since it was made or the count began anew.
  [[nodiscard]] Duration BusyBy(Duration now) const {
    return flows_.empty() ? busy_ : busy_ + (now - served_at_);
  }
  void CountBusyAnew(Duration now);

 private:
  struct Flow {
    double ends;             // in virtual time
    std::uint32_t sequence;  // wraps around: flows under way at once are less than half of it apart
    std::uint32_t id;
  };
  [[nodiscard]] static bool Later(const Flow& a, const Flow& b);
  void Serve(Duration until);
  // The present rate of each flow. REQUIRES: at least one flow.
  [[nodiscard]] double Share() const {
    return std::min(flow_max_, rate_ / static_cast<double>(flows_.size()));
  }

  double rate_;            // bytes per nanosecond
  const double flow_max_;  // the same, of one flow
  double served_ = 0;      // virtual time
  Duration served_at_{0};
  Duration busy_{0};  // until `served_at_`
  std::uint32_t next_sequence_ = 0;
  std::vector<Flow> flows_;  // a heap: the first to end in front
};

}  // namespace leeway::sim
