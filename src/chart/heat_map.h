// HeatMap: a matrix as colours, from little to much: how stale each worker was in each stretch of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chart/axis.h"
#include "chart/drawing.h"

namespace leeway::chart {

struct HeatMap {
  std::string title = {};
  std::string note = {};
  std::vector<std::string> rows = {};  // their names, from the top
  // Either names, one per column, or a linear axis that the columns divide evenly.
  std::vector<std::string> columns = {};
  Axis x = {};
  double x_low = 0;
  double x_high = 0;
  std::size_t column_count = 0;     // with an axis; names count themselves
  std::vector<double> values = {};  // row by row; NaN or missing: no value
  std::string value_label = {};     // of the scale of colours
  std::string value_unit = {};
  // The ends of the scale of colours; by default those of the values.
  std::optional<double> low = std::nullopt;
  std::optional<double> high = std::nullopt;
  // How the chart merges cells of a matrix with more lines or columns than it draws. The picture says so.
  enum class Merge : std::uint8_t { kMean, kLargest };
  Merge merge = Merge::kMean;
  bool in_cells = false;  // the values too, where cells are large enough
  int width = 800;
};

inline constexpr std::size_t kHeatRowsMax = 96;
inline constexpr std::size_t kHeatColumnsMax = 200;

// As high as its rows need.
Drawing Draw(const HeatMap& map);

}  // namespace leeway::chart
