// ComputeTime: the compute times of one worker, one gradient after the other, by a ComputeModel. A hash of
// (seed, rank, iteration) draws them, so that two policies meet the same machines.
#pragma once

#include <cstdint>

#include "leeway/env.h"
#include "scenario/scenario.h"

namespace leeway::scenario {

class ComputeTime {
 public:
  // `batch`: samples of one gradient.
  ComputeTime(const ComputeModel& model, std::uint32_t batch, std::uint64_t seed, std::uint32_t rank);
  // The time of iteration `iteration`. The caller may skip iterations, and never goes back.
  [[nodiscard]] Duration Of(std::uint64_t iteration);

 private:
  [[nodiscard]] double Draw(std::uint64_t iteration, std::uint64_t what) const;
  [[nodiscard]] double PhaseFactor(std::uint64_t iteration);

  const ComputeModel model_;
  const std::uint64_t seed_, rank_;
  double usual_s_;                  // the lasting part of the worker's time: base and its own factors
  std::uint64_t looked_until_ = 0;  // iterations before it have drawn whether a phase begins
  std::uint64_t slow_until_ = 0;
};

}  // namespace leeway::scenario
