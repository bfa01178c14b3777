#include "simulate/common_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leeway::app {
namespace {

using scenario::CurvePoint;
using scenario::RunRecord;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Everything that follows asks for more: a loss is counted downwards.
struct JudgedBy {
  double CurvePoint::*what;
  double sign;
  [[nodiscard]] double Of(const CurvePoint& point) const { return sign * (point.*what); }
};

bool IsJudged(const RunRecord& record, const JudgedBy& measure) {
  return record.errors.empty() && record.curve.size() > 1 && std::isfinite(measure.Of(record.curve.front()));
}

double BestOf(const RunRecord& record, const JudgedBy& measure) {
  double best = -HUGE_VAL;
  for (const CurvePoint& point : record.curve) {
    if (std::isfinite(measure.Of(point))) best = std::max(best, measure.Of(point));
  }
  return best;
}

// Between the judgements before and after, along a straight line.
double TimeTo(double level, const RunRecord& record, const JudgedBy& measure) {
  for (std::size_t i = 0; i < record.curve.size(); ++i) {
    const double here = measure.Of(record.curve[i]);
    if (!(here >= level)) continue;
    if (i == 0) return record.curve[0].seconds;
    const CurvePoint &before = record.curve[i - 1], &after = record.curve[i];
    const double last = measure.Of(before);
    if (!std::isfinite(last)) return after.seconds;
    return before.seconds + (after.seconds - before.seconds) * (level - last) / (here - last);
  }
  return kNone;
}

// Two significant digits of the way that is left: 0.83, 0.986; of a loss 0.45.
double RoundedDown(double level, const JudgedBy& measure) {
  const double rest = measure.sign > 0 ? 1 - level : -level;
  if (!(rest > 0)) return level;
  const double scale = std::pow(10.0, 1 - std::floor(std::log10(rest)));
  const double rounded = std::ceil(rest * scale - 1e-9) / scale;
  return measure.sign > 0 ? 1 - rounded : -rounded;
}

std::optional<CommonLevel> LevelOf(const scenario::Study& study, const JudgedBy& measure, std::string what) {
  std::vector<double> reached;  // by each cell, in its worst run
  double start = -HUGE_VAL;
  for (const scenario::Cell& cell : study.cells) {
    double worst = HUGE_VAL;
    for (const RunRecord& record : cell.records) {
      if (!IsJudged(record, measure)) continue;
      start = std::max(start, measure.Of(record.curve.front()));
      worst = std::min(worst, BestOf(record, measure));
    }
    if (std::isfinite(worst)) reached.push_back(worst);
  }
  if (reached.empty()) return std::nullopt;
  const double best = std::ranges::max(reached);
  double level = best;
  for (const double each : reached) {
    if (each - start >= (best - start) / 2) level = std::min(level, each);
  }
  level = RoundedDown(level, measure);
  if (!(level > start)) return std::nullopt;
  CommonLevel common{.what = std::move(what), .level = measure.sign * level, .seconds = {}};
  for (const scenario::Cell& cell : study.cells) {
    std::vector<double>& times = common.seconds.emplace_back();
    for (const RunRecord& record : cell.records)
      times.push_back(IsJudged(record, measure) ? TimeTo(level, record, measure) : kNone);
  }
  return common;
}

}  // namespace

std::string CommonLevel::text() const { return fmt::format("{} {:.4g}", what, level); }

std::optional<CommonLevel> CommonLevelOf(const scenario::Study& study) {
  if (auto accuracy = LevelOf(study, {.what = &CurvePoint::accuracy, .sign = 1}, "accuracy")) return accuracy;
  return LevelOf(study, {.what = &CurvePoint::loss, .sign = -1}, "loss");
}

}  // namespace leeway::app
