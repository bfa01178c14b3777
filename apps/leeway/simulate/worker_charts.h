// The charts of single workers and servers for a page document: waits, lags, messages, timelines.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scenario/study.h"

namespace leeway::app {

// The share of its time that each worker waits, a bar for each cell.
[[nodiscard]] nlohmann::ordered_json WaitBars(const scenario::Study& study);
// The time of a worker's message at each server, a bar for each cell.
[[nodiscard]] nlohmann::ordered_json ServerBars(const scenario::Study& study);

// Maps of one kind on one scale. A cell whose map would be blank has none: `blank` says "asp (at most 3 %)".
struct StudyMaps {
  std::vector<nlohmann::ordered_json> charts;
  std::vector<std::string> blank;
};
// Of these cells, each in its first run that ended well.
[[nodiscard]] StudyMaps WaitMaps(const scenario::Study& study, const std::vector<std::size_t>& cells);
[[nodiscard]] StudyMaps LagMaps(const scenario::Study& study, const std::vector<std::size_t>& cells);

// The window that the scenario asks for, no more and no less; nothing if no worker did anything in it.
[[nodiscard]] std::optional<nlohmann::ordered_json> TimelineChart(const scenario::Cell& cell);

}  // namespace leeway::app
