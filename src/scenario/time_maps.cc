#include "scenario/time_maps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace leeway::scenario {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

TimeMap MapOf(std::uint32_t workers, std::uint32_t columns, double seconds) {
  TimeMap map;
  map.rows = workers;
  map.columns = seconds > 0 ? columns : 0;
  map.column_s = seconds / std::max<std::uint32_t>(columns, 1);
  map.values.assign(std::size_t{map.rows} * map.columns, kNothing);
  return map;
}

double SinceOrigin(const RunBooks& books, Duration at) {
  return std::chrono::duration<double>(at - books.origin).count();
}

// Adds the span to each column that it touches, by as much as lies in it.
void AddSpan(const TimeMap& map, std::uint32_t row, double from_s, double to_s, std::vector<double>& sums) {
  auto column = static_cast<std::uint32_t>(std::max(from_s / map.column_s, 0.0));
  for (; column < map.columns && column * map.column_s < to_s; ++column) {
    const double low = std::max(from_s, column * map.column_s);
    const double high = std::min(to_s, (column + 1) * map.column_s);
    sums[std::size_t{row} * map.columns + column] += std::max(high - low, 0.0);
  }
}

}  // namespace

TimeMap LagOf(const RunBooks& books, std::uint32_t workers, std::uint32_t columns, double seconds) {
  TimeMap map = MapOf(workers, columns, seconds);
  if (map.columns == 0) return map;  // its columns have no width
  std::vector<double> furthest(map.columns, 0);
  for (const Step& step : books.steps) {
    const double from = SinceOrigin(books, step.asked) / map.column_s - 0.5;
    const double to = SinceOrigin(books, step.ended) / map.column_s - 0.5;
    for (auto column = static_cast<std::uint32_t>(std::max(std::ceil(from), 0.0));
         column < map.columns && column < to; ++column) {
      map.values[std::size_t{step.rank} * map.columns + column] = step.iteration;
      furthest[column] = std::max<double>(furthest[column], step.iteration);
    }
  }
  // A worker that has done its last iteration stays the furthest.
  for (std::uint32_t column = 1; column < map.columns; ++column)
    furthest[column] = std::max(furthest[column], furthest[column - 1]);
  for (std::size_t cell = 0; cell < map.values.size(); ++cell)
    map.values[cell] = furthest[cell % map.columns] - map.values[cell];
  return map;
}

TimeMap WaitsOf(const RunBooks& books, std::uint32_t workers, std::uint32_t columns, double seconds) {
  TimeMap map = MapOf(workers, columns, seconds);
  if (map.columns == 0) return map;
  std::vector<double> waited(map.values.size(), 0), all(map.values.size(), 0);
  for (const Step& step : books.steps) {
    const double asked = SinceOrigin(books, step.asked);
    AddSpan(map, step.rank, asked, SinceOrigin(books, step.began), waited);
    AddSpan(map, step.rank, asked, SinceOrigin(books, step.ended), all);
  }
  // A sliver of a column, from sums of rounded times, says nothing.
  for (std::size_t cell = 0; cell < map.values.size(); ++cell) {
    if (all[cell] > 1e-9 * map.column_s) map.values[cell] = waited[cell] / all[cell];
  }
  return map;
}

}  // namespace leeway::scenario
