#include "chart/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "chart/heat_grid.h"
#include "chart/palette.h"
#include "chart/quantity.h"
#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr std::size_t kToldCellsMax = 400;  // a tooltip for each of so many cells, else one for each row
constexpr double kRowNameMax = 120;
constexpr double kBarWidth = 180;

std::string MergeNote(const HeatMap& map, const HeatGrid& grid) {
  std::string what;
  if (grid.rows_each > 1) what += fmt::format("{} rows", grid.rows_each);
  if (grid.columns_each > 1)
    what += fmt::format("{}{} columns", what.empty() ? "" : " and ", grid.columns_each);
  if (what.empty()) return map.note;
  return fmt::format("{}{}a cell is the {} of {}", map.note, map.note.empty() ? "" : "; ",
                     map.merge == HeatMap::Merge::kMean ? "mean" : "largest", what);
}

// Draws the legend of the colours, at the right above the map.
void DrawScaleOfColours(Canvas& canvas, const HeatMap& map, const HeatGrid& grid, double top) {
  const double right = canvas.width() - 24;
  const double left = right - kBarWidth;
  const double step = kBarWidth / kHeatLevels;
  for (int level = 0; level < kHeatLevels; ++level) {
    canvas.Open(HeatClass(level));
    canvas.Rect(
        {left + level * step, top, left + (level + 1) * step + (level + 1 < kHeatLevels ? 0.3 : 0), top + 9},
        "fl");
    canvas.Close();
  }
  const std::array<double, 3> marks = {grid.range.low, (grid.range.low + grid.range.high) / 2,
                                       grid.range.high};
  constexpr std::array<std::string_view, 3> kSides = {"t", "t m", "t e"};
  for (std::size_t i = 0; i < marks.size(); ++i) {
    canvas.Text(left + kBarWidth * static_cast<double>(i) / 2, top + 21,
                FormatQuantity(marks[i], map.value_unit), kSides[i]);
  }
  const bool missing =
      std::any_of(grid.values.begin(), grid.values.end(), [](double value) { return std::isnan(value); });
  if (missing) {
    canvas.Rect({16, top, 28, top + 9}, "no");
    canvas.Text(34, top + 9, "no value", "n");
  }
  canvas.Text(left - 10, top + 9, Clipped(map.value_label, left - 110, 12), "e", map.value_label);
}

// Each level is one path of horizontal strokes, one stroke for a run of equal cells: a few bytes per run, and
// no seams as between rectangles. In units of cells; a transformation stretches them.
void DrawCells(Canvas& canvas, const HeatGrid& grid, const Box& box) {
  std::array<std::string, kHeatLevels> paths;
  for (std::size_t row = 0; row < grid.rows; ++row) {
    for (std::size_t column = 0; column < grid.columns;) {
      const int level = grid.Level(grid.At(row, column));
      std::size_t end = column + 1;
      while (end < grid.columns && grid.Level(grid.At(row, end)) == level) ++end;
      if (level >= 0)
        paths[static_cast<std::size_t>(level)] += fmt::format("M{} {}h{}", column, row, end - column);
      column = end;
    }
  }
  const std::string place = fmt::format(
      "transform=\"translate({:.2f} {:.2f}) scale({:.4f} {:.4f})\" shape-rendering=\"crispEdges\"", box.left,
      box.top + box.height() / static_cast<double>(grid.rows) / 2,
      box.width() / static_cast<double>(grid.columns), box.height() / static_cast<double>(grid.rows));
  for (int level = 0; level < kHeatLevels; ++level) {
    canvas.Path(paths[static_cast<std::size_t>(level)], "st " + HeatClass(level), place);
  }
}

std::string RowName(const HeatMap& map, const HeatGrid& grid, std::size_t row) {
  const std::size_t first = row * grid.rows_each;
  const std::size_t last = std::min(first + grid.rows_each, map.rows.size()) - 1;
  if (first == last) return map.rows[first];
  return fmt::format("{} to {}", ClippedTo(map.rows[first], 80), ClippedTo(map.rows[last], 80));
}

std::string RowTooltip(const HeatMap& map, const HeatGrid& grid, std::size_t row) {
  double sum = 0;
  double count = 0;
  Range range;
  for (std::size_t column = 0; column < grid.columns; ++column) {
    const double value = grid.At(row, column);
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
    range.Add(value);
  }
  if (count == 0) return fmt::format("{}\nno values", RowName(map, grid, row));
  return fmt::format("{}\nmean {}, from {} to {}", RowName(map, grid, row),
                     FormatQuantity(sum / count, map.value_unit), FormatQuantity(range.low, map.value_unit),
                     FormatQuantity(range.high, map.value_unit));
}

std::string CellTooltip(const HeatMap& map, const HeatGrid& grid, std::size_t row, std::size_t column) {
  std::string name;
  if (!map.columns.empty()) {
    name = ClippedTo(map.columns[column * grid.columns_each], 80);
  } else {
    const double step = (map.x_high - map.x_low) / static_cast<double>(grid.columns);
    name = FormatQuantity(map.x_low + step * static_cast<double>(column), map.x.unit);
  }
  const double value = grid.At(row, column);
  return fmt::format("{}, {}: {}", RowName(map, grid, row), name,
                     std::isnan(value) ? "no value" : FormatQuantity(value, map.value_unit, 4));
}

void DrawValues(Canvas& canvas, const HeatMap& map, const HeatGrid& grid, const Box& box) {
  const double height = box.height() / static_cast<double>(grid.rows);
  const double width = box.width() / static_cast<double>(grid.columns);
  if (height < 14) return;
  for (std::size_t row = 0; row < grid.rows; ++row) {
    for (std::size_t column = 0; column < grid.columns; ++column) {
      const int level = grid.Level(grid.At(row, column));
      const std::string text = FormatQuantity(grid.At(row, column), map.value_unit);
      if (level < 0 || TextWidth(text, 11) > width - 4) continue;
      canvas.Text(box.left + width * (static_cast<double>(column) + 0.5),
                  box.top + height * (static_cast<double>(row) + 0.5) + 4, text,
                  level * 2 < kHeatLevels ? "v m" : "v m much");
    }
  }
}

// Invisible shapes above the cells that answer the pointer.
void DrawTooltips(Canvas& canvas, const HeatMap& map, const HeatGrid& grid, const Box& box) {
  const double row_height = box.height() / static_cast<double>(grid.rows);
  const double cell_width = box.width() / static_cast<double>(grid.columns);
  const bool by_cell = grid.rows * grid.columns <= kToldCellsMax;
  for (std::size_t row = 0; row < grid.rows; ++row) {
    const double top = box.top + row_height * static_cast<double>(row);
    if (!by_cell) {
      canvas.Rect({box.left, top, box.right, top + row_height}, "hit", RowTooltip(map, grid, row));
      continue;
    }
    for (std::size_t column = 0; column < grid.columns; ++column) {
      const double left = box.left + cell_width * static_cast<double>(column);
      canvas.Rect({left, top, left + cell_width, top + row_height}, "hit",
                  CellTooltip(map, grid, row, column));
    }
  }
}

void DrawRowNames(Canvas& canvas, const HeatMap& map, const HeatGrid& grid, const Box& box) {
  const double height = box.height() / static_cast<double>(grid.rows);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(13 / height)));
  for (std::size_t row = 0; row < grid.rows; row += every) {
    const std::string& name = map.rows[row * grid.rows_each];
    canvas.Text(box.left - 6, box.top + height * (static_cast<double>(row) + 0.5) + 4,
                Clipped(name, kRowNameMax, 11), "t e", name);
  }
}

void DrawColumnNames(Canvas& canvas, const HeatMap& map, const HeatGrid& grid, const Box& box) {
  const double width = box.width() / static_cast<double>(grid.columns);
  double free_from = 0;
  for (std::size_t column = 0; column < grid.columns; ++column) {
    const std::string& name = map.columns[column * grid.columns_each];
    const double middle = box.left + width * (static_cast<double>(column) + 0.5);
    const std::string shown = Clipped(name, std::max(width - 4, 60.0), 11);
    const double half = TextWidth(shown, 11) / 2;
    if (middle - half < free_from) continue;
    canvas.Text(middle, box.bottom + 16, shown, "t m", name);
    free_from = middle + half + 6;
  }
  if (!map.x.label.empty()) canvas.Text((box.left + box.right) / 2, box.bottom + 35, map.x.label, "m");
}

}  // namespace

Drawing Draw(const HeatMap& map) {
  const HeatGrid grid = GridOf(map);
  Canvas canvas(map.width, 0);
  const double top = canvas.Heading(map.title, MergeNote(map, grid));
  const double row_height =
      std::clamp(360 / static_cast<double>(std::max<std::size_t>(grid.rows, 1)), 4.0, 22.0);
  double names = 0;
  for (const std::string& name : map.rows)
    names = std::max(names, TextWidth(Clipped(name, kRowNameMax, 11), 11));
  Box box{22 + names, top + 32, map.width - 24.0, 0};
  box.right = std::max(box.right, box.left + 60);
  box.bottom = box.top + std::max(row_height * static_cast<double>(grid.rows), 22.0);
  const bool one_line = !map.columns.empty() && map.x.label.empty();
  canvas.SetHeight(static_cast<int>(std::ceil(box.bottom + (one_line ? 26 : kBottomAxisHeight))));
  DrawScaleOfColours(canvas, map, grid, top + 2);
  canvas.Rect(box, "no");
  if (grid.rows > 0) {
    DrawCells(canvas, grid, box);
    if (map.in_cells) DrawValues(canvas, map, grid, box);
    DrawTooltips(canvas, map, grid, box);
    DrawRowNames(canvas, map, grid, box);
  }
  if (!map.columns.empty() && grid.rows > 0) {
    DrawColumnNames(canvas, map, grid, box);
  } else {
    Axis x = map.x;
    x.scale = ScaleKind::kLinear;
    x.low = map.x_low;
    x.high = map.x_high;
    const FittedAxis axis = FitAxis(x, {0, 1}, {.length_px = box.width()});
    DrawBottomAxis(canvas, axis, box, false);
  }
  return std::move(canvas).Finish(map.title);
}

}  // namespace leeway::chart
