// Quantities as people read them: 12k, 3.5M, 250 ms, 1.2 GB, 92.1 %. The same bytes in every locale.
//
// The units:
//   ""          a plain number; from 10,000 on with k, M, G, T
//   "s"         a time; shown in ns, µs, ms, s, from an hour on in min, from ten in h
//   "B", "B/s", "bit/s", "Hz", "FLOP/s"   with the prefixes k, M, G, T before the unit
//   "%"         a fraction, shown times 100
//   anything else is written behind a plain number: "12k steps"
#pragma once

#include <string>
#include <string_view>

namespace leeway::chart {

// The format of quantities of one magnitude: value / factor, then `suffix` without a space, then a space and
// `symbol`.
struct DisplayUnit {
  double factor = 1;
  std::string suffix;
  std::string symbol;
};
DisplayUnit UnitFor(double magnitude, std::string_view unit);

// Formats a value in `shown`, without the symbol: "12.3k".
std::string FormatIn(double value, const DisplayUnit& shown, int digits = 3);

// Formats with `digits` significant digits, or more where the whole part has more; no zeros at the end. "–"
// for NaN.
std::string FormatNumber(double value, int digits = 3);
std::string FormatQuantity(double value, std::string_view unit, int digits = 3);
// "92.13 ± 0.41 %": the spread with two significant digits, the mean as exact as the spread.
std::string FormatSpread(double mean, double spread, std::string_view unit);
// Always shows `decimals` decimals; commas separate groups of three digits before the point.
std::string FormatFixed(double value, int decimals);

}  // namespace leeway::chart
