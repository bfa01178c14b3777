// Overlap: how much of the workers' communication their computation hid, over the figures that they report
// (docs/operations.md explains the numbers).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "status/job_status.h"

namespace leeway::app {

struct Overlap {
  double communication_s = 0;
  double queue_s = 0, held_s = 0, wire_s = 0;  // the parts of it that were waited for
  double delay_s = 0, pushes = 0, slow_pushes = 0;

  [[nodiscard]] double waited_s() const { return queue_s + held_s + wire_s; }
  // The share that was not waited for; nothing without communication.
  [[nodiscard]] std::optional<double> share() const;
};

[[nodiscard]] Overlap OverlapOf(const Figures& worker);
// Of all workers together.
[[nodiscard]] Overlap OverlapOf(const JobStatus& status);

// "87 %: of 12.3 s of communication 1.6 s were waited for (held for other workers 1.1 s, wire 0.5 s)"; empty
// without communication.
[[nodiscard]] std::string OverlapText(const JobStatus& status);
// "w3 61 %, w0 90 %, w1 91 %": those with the least first, a few of them.
[[nodiscard]] std::string OverlapByWorkerText(const JobStatus& status);
// The tables that were waited for longest: "fc.weight 0.8 s (wire 0.7 s, own queue 0.1 s), ...".
[[nodiscard]] std::string OverlapWaitsText(const JobStatus& status);
// "0.12 ms after their gradients were ready on average; 37 of 6400 after more than 1 ms".
[[nodiscard]] std::string PushDelayText(const JobStatus& status);
[[nodiscard]] nlohmann::json OverlapJson(const JobStatus& status);

}  // namespace leeway::app
