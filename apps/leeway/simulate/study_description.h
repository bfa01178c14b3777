// The description of a study: the subtitle of a report, its facts, and the scenario with sweep and seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "scenario/study.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

// The cell in a sentence: "ssp:3"; "workers=16, ssp:3"; its label if a file gives one.
[[nodiscard]] std::string NameOf(const scenario::Cell& cell, const StudyWords& words);
// "a", "a and b", "a, b and c".
[[nodiscard]] std::string Listed(const std::vector<std::string>& names);
// What `of` says of every cell's scenario; nothing where cells differ, since a sweep changes it.
template <typename Of>
[[nodiscard]] auto CommonOf(const scenario::Study& study, Of of) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Of, const scenario::Scenario&>>;
  std::optional<Value> common;
  for (const scenario::Cell& cell : study.cells) {
    const Value value = std::invoke(of, cell.scenario);
    if (common && *common != value) return std::optional<Value>();
    common = value;
  }
  return common;
}
// How many iterations every worker does; nothing where cells differ, or workers share the iterations of a
// pool.
[[nodiscard]] std::optional<std::uint64_t> IterationsOfEach(const scenario::Study& study);
// "seed 1", "seeds 1 to 3".
[[nodiscard]] std::string SeedsText(const scenario::Study& study);

[[nodiscard]] std::string SubtitleOf(const scenario::Study& study, const StudyWords& words);
[[nodiscard]] std::vector<std::pair<std::string, std::string>> FactsOf(const scenario::Study& study,
                                                                       const StudyWords& words);
// A scenario file that gives this study again: keys that are swept stand in [study] alone.
[[nodiscard]] std::string StudyToml(const scenario::Study& study, const StudyWords& words);

}  // namespace leeway::app
