// CommonLevel: an accuracy, or a loss, that the cells of a study reach, and how long each takes to it. Where
// every worker does a fixed number of iterations, the time to the end says only how fast the slowest machine
// is; this time compares the models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/study.h"

namespace leeway::app {

struct CommonLevel {
  std::string what;  // "accuracy", "loss"
  double level = 0;
  // Seconds by cell and seed; not a number where the run never reached it or did not end well.
  std::vector<std::vector<double>> seconds;

  [[nodiscard]] std::string text() const;  // "accuracy 0.83"
};

// The best level that all runs reach, rounded to what every one reaches; cells that get less than half as far
// as the best cell are left behind. Nothing if the study has no curves, or no run gets anywhere.
[[nodiscard]] std::optional<CommonLevel> CommonLevelOf(const scenario::Study& study);

}  // namespace leeway::app
