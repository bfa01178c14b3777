#include "chart/heat_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chart/palette.h"

namespace leeway::chart {
namespace {

// How many cells to merge into one, so that at most `most` remain.
std::size_t MergedEach(std::size_t count, std::size_t most) {
  return std::max<std::size_t>(1, (count + most - 1) / most);
}

struct Merged {
  double sum = 0;
  double largest = -std::numeric_limits<double>::infinity();
  double count = 0;

  [[nodiscard]] double Value(HeatMap::Merge how) const {
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    return how == HeatMap::Merge::kMean ? sum / count : largest;
  }
};

Range ScaleOf(const HeatMap& map, const std::vector<double>& values) {
  Range range;
  for (const double value : values) {
    if (IsDrawable(value)) range.Add(value);
  }
  if (range.empty()) range = {0, 1};
  if (range.low > 0 && range.low < 0.5 * range.high) range.low = 0;
  if (range.high - range.low > std::abs(range.high) * 1e-9 && range.high - range.low > 1e-100) {
    // Chooses ends that are easy to read, and to halve.
    const double step = NiceStep(range, 4);
    range = {std::floor(range.low / step + 1e-9) * step, std::ceil(range.high / step - 1e-9) * step};
  }
  if (map.low && IsDrawable(*map.low)) range.low = *map.low;
  if (map.high && IsDrawable(*map.high)) range.high = *map.high;
  const double size = std::max({std::abs(range.low), std::abs(range.high), 1e-100});
  if (range.high - range.low <= size * 1e-9) range.high = range.low + (range.low == 0 ? 1 : size);
  return range;
}

}  // namespace

int HeatGrid::Level(double value) const {
  if (std::isnan(value)) return -1;
  const double part = (value - range.low) / (range.high - range.low);
  return static_cast<int>(std::clamp(part * kHeatLevels, 0.0, kHeatLevels - 1.0));
}

HeatGrid GridOf(const HeatMap& map) {
  HeatGrid grid;
  const std::size_t columns = map.columns.empty() ? map.column_count : map.columns.size();
  grid.rows_each = MergedEach(map.rows.size(), kHeatRowsMax);
  grid.columns_each = MergedEach(columns, kHeatColumnsMax);
  grid.rows = MergedEach(map.rows.size(), grid.rows_each);
  grid.columns = MergedEach(columns, grid.columns_each);
  if (map.rows.empty() || columns == 0) grid.rows = grid.columns = 0;
  std::vector<Merged> cells(grid.rows * grid.columns);
  for (std::size_t i = 0; i < map.values.size() && i < map.rows.size() * columns; ++i) {
    if (!IsDrawable(map.values[i])) continue;
    Merged& cell = cells[i / columns / grid.rows_each * grid.columns + i % columns / grid.columns_each];
    cell.sum += map.values[i];
    cell.largest = std::max(cell.largest, map.values[i]);
    ++cell.count;
  }
  for (const Merged& cell : cells) grid.values.push_back(cell.Value(map.merge));
  grid.range = ScaleOf(map, grid.values);
  return grid;
}

}  // namespace leeway::chart
