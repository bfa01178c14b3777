// Figures: the numbers of a run behind tables and plots, and their spread over several seeds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenario/run_record.h"

namespace leeway::scenario {

struct Figure {
  std::string name;     // in JSON: "dprs_per_100"
  std::string title;    // for people, with its unit: "DPRs / 100 it."
  std::string meaning;  // in words
  double (*of)(const RunRecord&);
  // Whether a table of a study that names no figures has it.
  enum class Shown : std::uint8_t { kIfItSaysSomething, kIfAsked };
  Shown shown = Shown::kIfItSaysSomething;
};
// In the order in which tables show them.
[[nodiscard]] std::span<const Figure> AllFigures();
// REQUIRES: a figure has this name.
[[nodiscard]] const Figure& FigureNamed(std::string_view name);

struct Spread {
  double mean = 0;
  double deviation = 0;  // of a sample; 0 with one
  double low = 0, high = 0;
};
// Computed over the values that are numbers; NaN if no value is.
[[nodiscard]] Spread SpreadOf(std::span<const double> values);
[[nodiscard]] Spread SpreadOf(const Figure& figure, std::span<const RunRecord> records);

// "12.3 ± 0.4"; the mean alone with one seed; "-" for NaN.
[[nodiscard]] std::string ToText(const Spread& spread, std::size_t seeds);

}  // namespace leeway::scenario
