// HeatGrid: the cells of a heat map as drawn: neighbours are merged until few enough remain.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chart/heat_map.h"
#include "chart/scale.h"

namespace leeway::chart {

struct HeatGrid {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t rows_each = 1;     // of the map in one of these
  std::size_t columns_each = 1;  // the last row and column may have fewer
  std::vector<double> values;    // rows * columns; NaN: none
  Range range;                   // of the scale of colours; low < high

  [[nodiscard]] double At(std::size_t row, std::size_t column) const {
    return values[row * columns + column];
  }
  // 0 to kHeatLevels - 1, or -1 without a value.
  [[nodiscard]] int Level(double value) const;
};

HeatGrid GridOf(const HeatMap& map);

}  // namespace leeway::chart
