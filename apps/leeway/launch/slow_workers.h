// SlowWorkers: which workers of a job sleep in their steps, to try a script beside slow machines. Filled by
// `leeway run --slow-worker`; a worker gets its part as environment variables, and leeway.torch sleeps.
//
// The sleep takes the place of computing, so a slow worker leaves its core to the others. Pure state.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "leeway/status.h"
#include "system/environment.h"

namespace leeway::app {

class SlowWorkers {
 public:
  // Takes "3:4x", "rotate:4x,5-10" or "pauses:200ms,0.05"; an error changes nothing. Of a rank the last
  // factor counts; of rotate and pauses a job has one.
  [[nodiscard]] Status Take(const std::string& text);
  // An error if a rank is named that a job of so many workers does not have.
  [[nodiscard]] Status Check(std::uint32_t workers) const;
  // Tells worker `rank` its slowness. `seed` is the job's.
  void SetVariables(std::uint32_t rank, std::uint64_t seed, Environment& environment) const;
  // By rank: how many times slower, for good.
  [[nodiscard]] const std::map<std::uint32_t, double>& factors() const { return factors_; }

 private:
  std::map<std::uint32_t, double> factors_;
  std::string pattern_;  // of all workers, as LEEWAY_SLOW_PATTERN has it, without the seed; empty: none
};

}  // namespace leeway::app
