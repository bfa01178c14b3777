// The charts of a study's numbers, as charts of a page document: curves, bars, lines, shares of times.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "scenario/study.h"
#include "simulate/common_level.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

enum class Against : std::uint8_t { kTime, kIterations };
// "accuracy" or "loss"; a mark shows `level` if it is one of that.
[[nodiscard]] nlohmann::ordered_json CurveChart(const scenario::Study& study, const std::string& what,
                                                Against against, const CommonLevel* level = nullptr);
[[nodiscard]] bool HasCurve(const scenario::Study& study, const std::string& what);

// One bar for each cell.
[[nodiscard]] nlohmann::ordered_json FigureBars(const scenario::Study& study, const StudyWords& words,
                                                const std::string& figure);
[[nodiscard]] nlohmann::ordered_json LevelBars(const scenario::Study& study, const CommonLevel& level);

// The charts of one plot of [study]: "bars:seconds", "curve:accuracy" (two charts), "waits".
[[nodiscard]] std::vector<nlohmann::ordered_json> ChartsOfPlot(const std::string& plot,
                                                               const scenario::Study& study,
                                                               const StudyWords& words);

}  // namespace leeway::app
