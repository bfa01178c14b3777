#include "scoreboard.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "json_line.h"

namespace leeway::bench {
namespace {

using nlohmann::json;

// The smallest change that counts, and the spread of a figure whose spread is unknown.
constexpr double kChangeMin = 0.02, kUnknownSpread = 0.1;

// Where a figure stands in the JSON of its bench, and where its spread does (empty: nowhere).
struct Place {
  std::string_view figure, value, spread;
  Bound good = Bound::kAtLeast;
};

// Small blocks stay in the cache, where a limit of memory says nothing.
constexpr Place kPushPullSmallPlaces[] = {
    {"pairs_s", "/pairs_s", "/spread"},
    {"ratio", "/ratio", "/ratio_spread"},
    {"cpu_ratio", "/cpu_ratio", "/cpu_ratio_spread", Bound::kAtMost},
};
constexpr Place kPushPullLargePlaces[] = {
    {"gb_s_each_way", "/gb_s_each_way", "/spread"},
    {"ratio", "/ratio", "/ratio_spread"},
    {"limit_ratio", "/limit_ratio", "/limit_ratio_spread"},
    {"cpu_s_per_gb_moved", "/cpu_s_per_gb_moved", "/spread", Bound::kAtMost},
    {"cpu_ratio", "/cpu_ratio", "/cpu_ratio_spread", Bound::kAtMost},
};
constexpr Place kLatencyPlaces[] = {
    {"one_core.p50_us", "/one_core/p50_us", "/one_core/p50_spread", Bound::kAtMost},
    {"one_core.p50_ratio", "/one_core/p50_ratio", "/one_core/p50_ratio_spread", Bound::kAtMost},
    {"one_core.p99_ratio", "/one_core/p99_ratio", "/one_core/p99_ratio_spread", Bound::kAtMost},
    {"two_cores.p50_us", "/two_cores/p50_us", "/two_cores/p50_spread", Bound::kAtMost},
    {"two_cores.p50_ratio", "/two_cores/p50_ratio", "/two_cores/p50_ratio_spread", Bound::kAtMost},
    {"two_cores.p99_ratio", "/two_cores/p99_ratio", "/two_cores/p99_ratio_spread", Bound::kAtMost},
};
constexpr Place kSyncPlaces[] = {{"ratio_max", "/ratio_max", "", Bound::kAtMost}};
constexpr Place kSimPlaces[] = {
    {"events_s", "/events_s", "/events_s_spread"},
    {"growth", "/growth", "/growth_spread", Bound::kAtMost},
};
constexpr Place kStepPlaces[] = {{"ratio", "/ratio", "/ratio_spread", Bound::kAtMost}};
// Where workers wait for each other.
constexpr Place kStepMetPlaces[] = {
    {"met_ratio", "/met_ratio", "", Bound::kAtMost},
    {"over_met", "/over_met", "", Bound::kAtMost},
};
constexpr Place kMemoryPlaces[] = {
    {"first_iteration.seconds", "/first_iteration/seconds", "/first_iteration/spread", Bound::kAtMost},
    {"first_iteration.ratio", "/first_iteration/ratio", "/first_iteration/ratio_spread", Bound::kAtMost},
    {"growth_kib", "/flat/growth_kib", "", Bound::kAtMost},
    {"descriptors_growth", "/flat/descriptors_growth", "", Bound::kAtMost},
    {"iterations_s", "/flat/iterations_s", ""},
};
constexpr Place kCheckpointPlaces[] = {{"cost_percent", "/cost_percent", "", Bound::kAtMost}};

// The benches whose figures are always in the same places.
struct BenchPlaces {
  std::string_view bench;
  std::span<const Place> places;
};
constexpr BenchPlaces kBenchPlaces[] = {
    {"latency", kLatencyPlaces}, {"sync", kSyncPlaces},     {"sim", kSimPlaces},
    {"step", kStepPlaces},       {"memory", kMemoryPlaces}, {"checkpoint", kCheckpointPlaces},
};

double SpreadAt(const json& object, std::string_view pointer) {
  if (pointer.empty()) return 0;
  const json::json_pointer place{std::string(pointer)};
  return object.contains(place) && object[place].is_number() ? object[place].get<double>() : 0.0;
}

Status Take(const std::string& part, const json& object, std::span<const Place> places,
            std::vector<Score>& scores) {
  for (const Place& place : places) {
    const json::json_pointer pointer{std::string(place.value)};
    if (!object.contains(pointer) || !object[pointer].is_number())
      return InvalidArgument("{}: no number at {} in its JSON", part, place.value);
    scores.push_back({fmt::format("{}.{}", part, place.figure), object[pointer].get<double>(),
                      SpreadAt(object, place.spread), place.good});
  }
  return Status::Ok();
}

// One row of `rows` after the other, each named by `name_of`.
Status TakeRatios(const std::string& part, const json& object, const char* rows,
                  const std::function<std::string(const json&)>& name_of, std::vector<Score>& scores) {
  if (!object.contains(rows) || !object[rows].is_array() || object[rows].empty())
    return InvalidArgument("{}: no \"{}\" in its JSON", part, rows);
  for (const json& row : object[rows]) {
    // The row that the others are compared with is no figure.
    if (part == "scale" && &row == &object[rows][0]) continue;
    if (!row.is_object() || !row.contains("ratio") || !row["ratio"].is_number())
      return InvalidArgument("{}: a row of \"{}\" in its JSON has no ratio", part, rows);
    const double spread = SpreadAt(row, row.contains("ratio_spread") ? "/ratio_spread" : "/spread");
    scores.push_back({fmt::format("{}.{}.ratio", part, name_of(row)), row["ratio"].get<double>(), spread});
  }
  return Status::Ok();
}

std::string Shown(double value) {
  const double size = std::abs(value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, size >= 100 ? 1 : 3);
}

std::string FloorText(const Floor* floor) {
  if (floor == nullptr) return "";
  return fmt::format("{} {:g}", floor->bound == Bound::kAtLeast ? ">=" : "<=", floor->value);
}

const Score* FindScore(const Baseline* baseline, const std::string& figure) {
  if (baseline == nullptr) return nullptr;
  const auto found = baseline->find(figure);
  return found == baseline->end() ? nullptr : &found->second;
}

// Now over before; nothing where that says nothing.
std::optional<double> BaselineRatio(const Score& now, const Score* before) {
  if (before == nullptr || before->value <= 0 || now.value <= 0) return std::nullopt;
  return now.value / before->value;
}

const char* ChangeText(Change change) {
  return change == Change::kBetter ? "better" : change == Change::kWorse ? "worse" : "";
}

std::vector<std::string_view> NotMeasured(const ScoreRun& run) {
  std::vector<std::string_view> missing;
  for (const Floor& floor : Floors()) {
    const bool measured = std::any_of(run.scores.begin(), run.scores.end(),
                                      [&](const Score& score) { return FindFloor(score.figure) == &floor; });
    if (!measured) missing.push_back(floor.figure);
  }
  return missing;
}

}  // namespace

Result<std::vector<Score>> ScoresOf(const std::string& part, const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object())
    return InvalidArgument("{}: got \"{}\", wanted a JSON object", part, text.substr(0, 80));
  const std::string bench = part.substr(0, part.find('.'));
  std::vector<Score> scores;
  const auto take = [&](std::span<const Place> places) { return Take(part, object, places, scores); };
  if (bench == "pushpull") {
    const bool large = object.value("block_bytes", 0) >= 64 * 1024;
    LW_RETURN_IF_ERROR(large ? take(kPushPullLargePlaces) : take(kPushPullSmallPlaces));
  } else if (bench == "scale") {
    LW_RETURN_IF_ERROR(TakeRatios(
        part, object, "sizes",
        [](const json& row) {
          return fmt::format("{}+{}", row.value("workers", 0), row.value("servers", 0));
        },
        scores));
  } else if (bench == "optimizer") {
    LW_RETURN_IF_ERROR(TakeRatios(
        part, object, "optimizers", [](const json& row) { return row.value("spec", "unnamed"); }, scores));
  } else {
    const auto* const found = std::ranges::find(kBenchPlaces, bench, &BenchPlaces::bench);
    if (found == std::end(kBenchPlaces)) return NotFound("{}: no figures are known of this bench", part);
    LW_RETURN_IF_ERROR(take(found->places));
    if (bench == "step" && object.contains("met_ratio")) LW_RETURN_IF_ERROR(take(kStepMetPlaces));
  }
  return scores;
}

Change Compare(const Score& now, const Score& before) {
  if (now.value <= 0 || before.value <= 0) return Change::kNone;
  const double gain = now.good == Bound::kAtLeast ? now.value / before.value : before.value / now.value;
  const auto spread = [](const Score& score) { return score.spread > 0 ? score.spread : kUnknownSpread; };
  const double margin = 1 + std::max({spread(now), spread(before), kChangeMin});
  if (gain > margin) return Change::kBetter;
  return gain < 1 / margin ? Change::kWorse : Change::kNone;
}

Result<Baseline> ReadBaseline(const std::string& text) {
  const json run = json::parse(text, nullptr, false);
  if (!run.is_object() || !run.contains("figures") || !run["figures"].is_array())
    return InvalidArgument("no \"figures\" in it; wanted what `leeway bench all --save FILE` writes");
  Baseline baseline;
  for (const json& row : run["figures"]) {
    if (!row.is_object() || !row.contains("figure") || !row["figure"].is_string() || !row.contains("value"))
      return InvalidArgument("a row of its \"figures\" has no figure or no value");
    // A value that was no number is null.
    if (!row["value"].is_number()) continue;
    const std::string figure = row["figure"];
    baseline[figure] = {figure, row["value"].get<double>(), SpreadAt(row, "/spread"),
                        row.value("better", "higher") == "lower" ? Bound::kAtMost : Bound::kAtLeast};
  }
  return baseline;
}

std::vector<std::string> BelowFloor(const ScoreRun& run) {
  std::vector<std::string> below;
  for (const Score& score : run.scores) {
    const Floor* const floor = FindFloor(score.figure);
    if (floor != nullptr && !floor->Holds(score.value)) below.push_back(score.figure);
  }
  return below;
}

std::string ToJson(const ScoreRun& run, const Baseline* baseline) {
  std::vector<std::string> rows, failures;
  for (const Score& score : run.scores) {
    JsonLine row;
    row.Text("figure", score.figure)
        .Real("value", score.value, 8)
        .Real("spread", score.spread, 3)
        .Text("better", score.good == Bound::kAtLeast ? "higher" : "lower");
    if (const Floor* const floor = FindFloor(score.figure)) {
      row.Text("floor", FloorText(floor)).Raw("pass", floor->Holds(score.value) ? "true" : "false");
    }
    const Score* const before = FindScore(baseline, score.figure);
    if (const std::optional<double> ratio = BaselineRatio(score, before)) {
      row.Real("of_baseline", *ratio);
      const Change change = Compare(score, *before);
      if (change != Change::kNone) row.Text("change", ChangeText(change));
    }
    rows.push_back(row.Done());
  }
  for (const auto& [part, why] : run.failures)
    failures.push_back(JsonLine().Text("part", part).Text("why", why).Done());
  JsonLine parts;
  for (const auto& [part, text] : run.parts) parts.Raw(part, text);
  return JsonLine()
      .Text("bench", "all")
      .Each("figures", rows)
      .Each("failures", failures)
      .Whole("below", BelowFloor(run).size())
      .Real("busy", run.busy, 3)
      .Raw("parts", parts.Done())
      .Done();
}

std::string ToText(const ScoreRun& run, const Baseline* baseline) {
  std::string text = fmt::format("{:<42}{:>12}{:>9}{:>12}  {:<6}", "figure", "value", "spread", "floor", "");
  if (baseline != nullptr) text += fmt::format("{:>12}", "of baseline");
  while (text.back() == ' ') text.pop_back();
  text += '\n';
  std::size_t pass = 0;
  for (const Score& score : run.scores) {
    const Floor* const floor = FindFloor(score.figure);
    const bool holds = floor != nullptr && floor->Holds(score.value);
    pass += holds ? 1 : 0;
    text += fmt::format("{:<42}{:>12}{:>9}{:>12}  {:<6}", score.figure, Shown(score.value),
                        score.spread > 0 ? fmt::format("{:.0f}%", score.spread * 100) : "", FloorText(floor),
                        floor == nullptr ? ""
                        : holds          ? "pass"
                                         : "missed");
    const Score* const before = FindScore(baseline, score.figure);
    if (const std::optional<double> ratio = BaselineRatio(score, before))
      text += fmt::format("{:>12.2f}  {}", *ratio, ChangeText(Compare(score, *before)));
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }
  text += fmt::format("\n{} pass, {} miss their floor\n", pass, BelowFloor(run).size());
  if (baseline != nullptr) {
    std::vector<std::string> better, worse;
    std::size_t compared = 0;
    for (const Score& score : run.scores) {
      const Score* const before = FindScore(baseline, score.figure);
      compared += before != nullptr ? 1 : 0;
      const Change change = before == nullptr ? Change::kNone : Compare(score, *before);
      if (change == Change::kBetter) better.push_back(score.figure);
      if (change == Change::kWorse) worse.push_back(score.figure);
    }
    const auto list = [&](const char* what, const std::vector<std::string>& figures) {
      if (!figures.empty()) text += fmt::format("{} than the baseline: {}\n", what, fmt::join(figures, ", "));
    };
    list("better", better);
    list("worse", worse);
    if (compared == 0) {
      text += "the baseline has none of these figures: nothing was compared\n";
    } else if (better.empty() && worse.empty()) {
      text += fmt::format("of {} figures that both have none changed by more than the spread\n", compared);
    }
  }
  if (const auto missing = NotMeasured(run); !run.chosen && !missing.empty())
    text += fmt::format("not measured: {}\n", fmt::join(missing, ", "));
  for (const auto& [part, why] : run.failures) text += fmt::format("{} did not run: {}\n", part, why);
  if (run.busy > 0.1) {
    text +=
        fmt::format("others used up to {:.0f} % of this machine: these are not the figures of a quiet one\n",
                    run.busy * 100);
  }
  return text;
}

}  // namespace leeway::bench
