#include "scenario/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace leeway::scenario {
namespace {

// The heaviest server over the mean of all.
double Imbalance(const RunRecord& record) {
  double most = 0, all = 0;
  for (const double bytes : record.server_bytes) {
    most = std::max(most, bytes);
    all += bytes;
  }
  return all > 0 ? most * static_cast<double>(record.server_bytes.size()) / all : 1;
}

const std::vector<Figure>& Table() {
  static const std::vector<Figure> figures = {
      {"seconds", "time s", [](const RunRecord& r) { return r.seconds; }},
      {"seconds_per_100", "time s / 100", [](const RunRecord& r) { return r.seconds_per_100; }},
      {"compute_s", "compute s", [](const RunRecord& r) { return r.compute_s; }},
      {"wait_s", "wait s", [](const RunRecord& r) { return r.wait_s; }},
      {"dprs_per_100", "DPRs / 100", [](const RunRecord& r) { return r.dprs_per_100; }},
      {"lead", "lead", [](const RunRecord& r) { return r.lead; }},
      {"loss", "loss", [](const RunRecord& r) { return r.loss; }},
      {"accuracy", "accuracy", [](const RunRecord& r) { return r.accuracy; }},
      {"error", "error", [](const RunRecord& r) { return 1 - r.accuracy; }},
      {"late_dropped", "late", [](const RunRecord& r) { return static_cast<double>(r.late_dropped); }},
      {"skipped", "skipped", [](const RunRecord& r) { return static_cast<double>(r.skipped); }},
      {"gigabytes", "GB", [](const RunRecord& r) { return r.bytes * 1e-9; }},
      {"imbalance", "imbalance", &Imbalance},
      {"messages", "messages", [](const RunRecord& r) { return static_cast<double>(r.messages); }},
  };
  return figures;
}

}  // namespace

std::span<const Figure> AllFigures() { return Table(); }

const Figure& FigureNamed(std::string_view name) {
  const auto found = std::ranges::find(Table(), name, &Figure::name);
  LW_CHECK(found != Table().end());
  return *found;
}

Spread SpreadOf(std::span<const double> values) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Spread spread{.mean = 0, .deviation = 0, .low = HUGE_VAL, .high = -HUGE_VAL};
  double n = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    spread.mean += value;
    spread.low = std::min(spread.low, value);
    spread.high = std::max(spread.high, value);
    ++n;
  }
  if (n == 0) return {kNone, kNone, kNone, kNone};
  spread.mean /= n;
  double squares = 0;
  for (const double value : values) {
    if (std::isfinite(value)) squares += (value - spread.mean) * (value - spread.mean);
  }
  spread.deviation = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return spread;
}

Spread SpreadOf(const Figure& figure, std::span<const RunRecord> records) {
  std::vector<double> values;
  for (const RunRecord& record : records) {
    if (record.errors.empty()) values.push_back(figure.of(record));
  }
  return SpreadOf(values);
}

std::string ToText(const Spread& spread, std::size_t seeds) {
  if (!std::isfinite(spread.mean)) return "-";
  const double size = std::abs(spread.mean);
  if (size >= 1e9) return fmt::format("{:.3g}", spread.mean);  // of one that diverges
  const bool whole = size >= 1000 || (seeds < 2 && size == std::floor(size));
  const int decimals = whole ? 0 : (size >= 100 ? 1 : (size >= 1 || size == 0 ? 2 : 4));
  if (seeds < 2) return fmt::format("{:.{}f}", spread.mean, decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", spread.mean, decimals, spread.deviation, decimals);
}

}  // namespace leeway::scenario
