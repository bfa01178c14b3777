// The scoreboard of `leeway bench all`: every figure beside its floor and beside an earlier run's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "floors.h"
#include "leeway/status.h"

namespace leeway::bench {

struct Score {
  std::string figure;  // "pushpull.tcp.1MiB.ratio"
  double value = 0;
  double spread = 0;             // over the turns: (max - min) / median; 0: not known
  Bound good = Bound::kAtLeast;  // kAtLeast: the higher the better
};

// The figures of one part, from the JSON that its bench printed. An error says what the JSON lacks.
[[nodiscard]] Result<std::vector<Score>> ScoresOf(const std::string& part, const std::string& json);

enum class Change : std::uint8_t { kNone, kBetter, kWorse };
// A change within the spread of either run (10 % if it is unknown), or below 2 %, does not count.
[[nodiscard]] Change Compare(const Score& now, const Score& before);

// By figure.
using Baseline = std::map<std::string, Score>;
// Reads a file that --save wrote.
[[nodiscard]] Result<Baseline> ReadBaseline(const std::string& json);

// One whole run.
struct ScoreRun {
  std::vector<Score> scores;
  std::vector<std::pair<std::string, std::string>> parts;     // the JSON of each part
  std::vector<std::pair<std::string, std::string>> failures;  // parts that did not run, and why
  double busy = 0;
  bool chosen = false;  // some parts only: that others were not measured goes without saying
};
// One JSON object on one line, which ReadBaseline reads.
[[nodiscard]] std::string ToJson(const ScoreRun& run, const Baseline* baseline);
// The table: figure, value, floor, pass or missed, and against the baseline (may be null). Floors that
// nothing was measured for are named.
[[nodiscard]] std::string ToText(const ScoreRun& run, const Baseline* baseline);
// The figures that are beyond their floors.
[[nodiscard]] std::vector<std::string> BelowFloor(const ScoreRun& run);

}  // namespace leeway::bench
