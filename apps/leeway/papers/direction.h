// Direction: what a paper says of two of its runs, as a ratio, beside ours: "lazy has 0.08 times the DPRs of
// soft". Ours is taken seed by seed (the same seed gives both runs the same machines) and has a spread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chart/table.h"
#include "leeway/status.h"
#include "scenario/figures.h"
#include "scenario/study.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

struct Direction {
  std::string what;  // "lazy against soft, SSP"
  std::string figure;
  std::string of, over;  // labels of cells
  std::optional<double> paper;
  // Of each seed whose runs ended well both; infinite or no number where the second cell has 0.
  std::vector<double> ratios;
  scenario::Spread ours;  // of the values that are numbers
};

// Returns the directions that `words` asks of a study that has run. An error names the line and what it
// wants.
[[nodiscard]] Result<std::vector<Direction>> DirectionsOf(const scenario::Study& study,
                                                          const StudyWords& words);
[[nodiscard]] chart::Table TableOfDirections(const std::vector<Direction>& directions, std::size_t seeds);

}  // namespace leeway::app
