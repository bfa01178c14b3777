// Pace: which worker of a job is the slowest, and by how much. A step that is not over yet counts as long as
// it has lasted, so that a worker which hangs is named at once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "status/job_status.h"

namespace leeway::app {

// Workers that take part: not those that have left, or were lost.
[[nodiscard]] bool IsLive(const WorkerStatus& worker);

struct Slowest {
  std::uint32_t rank = 0;
  double times = 0;         // as long per step as the median worker; 0: paces are not known
  double in_step_s = 0;     // above 0: it stands out by the step that it is in, for so long
  std::int64_t behind = 0;  // where paces are not known: iterations behind the first
};

class Pace {
 public:
  // REQUIRES: at_s does not go back.
  void Add(const JobStatus& status, double at_s);
  // Nothing for fewer than two workers, before each has ended a step, and where all are alike for all that
  // is known.
  [[nodiscard]] const std::optional<Slowest>& slowest() const { return slowest_; }
  // Seconds of computing per step lately, slowness that was asked for included.
  [[nodiscard]] std::optional<double> StepSeconds(std::uint32_t rank) const;

 private:
  struct Count {
    double compute_s = 0;
    std::int64_t steps = 0;
  };
  struct Look {
    double at_s = 0;
    std::map<std::uint32_t, Count> workers;
  };
  [[nodiscard]] std::optional<Slowest> Find(const JobStatus& status) const;

  std::deque<Look> looks_;
  std::optional<Slowest> slowest_;
};

// "w3 4.1x", "w1 12 s in a step", "w1 30 steps behind".
[[nodiscard]] std::string ToText(const Slowest& slowest);

}  // namespace leeway::app
