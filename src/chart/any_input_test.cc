// Any input gives output that is well-formed, bounded, and the same on a second run.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/hash.h"
#include "chart/bar_chart.h"
#include "chart/heat_map.h"
#include "chart/line_chart.h"
#include "chart/testing/xml_scan.h"
#include "chart/timeline.h"

namespace leeway::chart {
namespace {

// Values, names and axes as nobody would choose them.
class Odds {
 public:
  explicit Odds(std::uint64_t seed) : state_(seed) {}

  std::size_t Below(std::size_t limit) { return Mix64(++state_) % limit; }
  bool Coin() { return Below(2) == 0; }
  double Value() {
    constexpr double kOdd[] = {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(),
                               0,
                               -0.0,
                               std::numeric_limits<double>::max(),
                               std::numeric_limits<double>::lowest(),
                               1e100,
                               -1e100,
                               std::numeric_limits<double>::denorm_min(),
                               1e-100,
                               5,
                               1e9 + 1e-6};
    const std::size_t which = Below(20);
    if (which < std::size(kOdd)) return kOdd[which];
    if (which < 14) return std::pow(10, static_cast<double>(Below(600)) - 300);
    return (static_cast<double>(Below(2'000)) - 1'000) / 7;
  }
  std::string Name() {
    std::string name;
    for (std::size_t left = Below(3) == 0 ? Below(300) : Below(12); left > 0; --left) {
      name += static_cast<char>(Below(4) == 0 ? Below(256) : 32 + Below(95));
    }
    return name;
  }
  Axis SomeAxis() {
    constexpr const char* kUnits[] = {"", "s", "B", "%", "steps", "<x>"};
    Axis axis{.label = Name(), .unit = kUnits[Below(std::size(kUnits))]};
    if (Coin()) axis.scale = ScaleKind::kLog;
    if (Below(4) == 0) axis.low = Value();
    if (Below(4) == 0) axis.high = Value();
    for (std::size_t left = Below(5) == 0 ? Below(20) : 0; left > 0; --left) axis.marks.push_back(Value());
    return axis;
  }
  int Width() { return static_cast<int>(Coin() ? 800 : Below(900)); }

 private:
  std::uint64_t state_;
};

LineChart SomeLines(Odds& odds) {
  LineChart chart{.title = odds.Name(), .note = odds.Name(), .x = odds.SomeAxis(), .y = odds.SomeAxis()};
  chart.width = odds.Width();
  chart.height = odds.Width() / 2;
  for (std::size_t left = odds.Below(15); left > 0; --left) {
    Series series{.name = odds.Name(), .dashed = odds.Coin()};
    const bool in_order = odds.Coin();
    const std::size_t count = odds.Below(10) == 0 ? odds.Below(2'000) : odds.Below(40);
    for (std::size_t i = 0; i < count; ++i) {
      const double x = in_order ? static_cast<double>(i) : odds.Value();
      series.points.push_back({x, odds.Value(), odds.Value(), odds.Value()});
    }
    chart.series.push_back(std::move(series));
  }
  for (std::size_t left = odds.Below(4); left > 0; --left) {
    const auto axis = odds.Coin() ? ReferenceLine::Across::kX : ReferenceLine::Across::kY;
    chart.references.push_back({axis, odds.Value(), odds.Name()});
  }
  return chart;
}

BarChart SomeBars(Odds& odds) {
  BarChart chart{.title = odds.Name(), .note = odds.Name(), .y = odds.SomeAxis(), .stacked = odds.Coin()};
  chart.width = odds.Width();
  chart.height = odds.Width() / 2;
  for (std::size_t left = odds.Below(12); left > 0; --left) chart.categories.push_back(odds.Name());
  for (std::size_t left = odds.Below(6); left > 0; --left) {
    BarSeries series{.name = odds.Name(), .paper = odds.Coin()};
    for (std::size_t bars = odds.Below(14); bars > 0; --bars)
      series.bars.push_back({odds.Value(), odds.Value(), odds.Value()});
    chart.series.push_back(std::move(series));
  }
  return chart;
}

HeatMap SomeHeat(Odds& odds) {
  HeatMap map{.title = odds.Name(),
              .note = odds.Name(),
              .x = odds.SomeAxis(),
              .x_low = odds.Value(),
              .x_high = odds.Value()};
  map.value_label = odds.Name();
  map.in_cells = odds.Coin();
  map.width = odds.Width();
  const std::size_t columns = odds.Below(8) == 0 ? odds.Below(500) : odds.Below(12);
  for (std::size_t left = odds.Below(8) == 0 ? odds.Below(200) : odds.Below(12); left > 0; --left)
    map.rows.push_back(odds.Name());
  if (odds.Coin()) {
    map.column_count = columns;
  } else {
    for (std::size_t i = 0; i < columns; ++i) map.columns.push_back(odds.Name());
  }
  for (std::size_t left = odds.Below(map.rows.size() * columns + 5); left > 0; --left)
    map.values.push_back(odds.Value());
  if (odds.Coin()) map.low = odds.Value();
  if (odds.Coin()) map.high = odds.Value();
  return map;
}

Timeline SomeTimeline(Odds& odds) {
  Timeline timeline{.title = odds.Name(), .note = odds.Name(), .x = odds.SomeAxis()};
  if (odds.Below(5) > 0) timeline.kinds = WorkerSpanKinds();
  timeline.width = odds.Width();
  for (std::size_t left = odds.Below(10); left > 0; --left) {
    TimelineRow row{.name = odds.Name(), .note = odds.Name()};
    for (std::size_t spans = odds.Below(60); spans > 0; --spans) {
      const double begin = odds.Value();
      row.spans.push_back(
          {odds.Below(5), begin, odds.Coin() ? odds.Value() : begin + std::abs(odds.Value()), odds.Name()});
    }
    timeline.rows.push_back(std::move(row));
  }
  return timeline;
}

template <typename Chart>
void ExpectPicture(const Chart& chart) {
  const std::string svg = SvgText(Draw(chart));
  EXPECT_EQ(testing::XmlFault(svg), "");
  EXPECT_LT(svg.size(), 500'000U);
  EXPECT_EQ(svg, SvgText(Draw(chart)));
}

TEST(AnyInputTest, PicturesAreWellFormedAndBounded) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Odds odds(seed << 32U);
    ExpectPicture(SomeLines(odds));
    ExpectPicture(SomeBars(odds));
    ExpectPicture(SomeHeat(odds));
    ExpectPicture(SomeTimeline(odds));
  }
}

}  // namespace
}  // namespace leeway::chart
