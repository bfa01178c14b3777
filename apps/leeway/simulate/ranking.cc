#include "simulate/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenario/figures.h"
#include "simulate/study_description.h"

namespace leeway::app {
namespace {

constexpr std::size_t kNamedMax = 4;  // beyond, only the last is named
constexpr double kTie = 1.0005;       // of two means of one seed: below, their texts may be the same

double MeanOf(const Contender& contender) { return scenario::SpreadOf(contender.seconds).mean; }

std::string TimeText(double seconds) {
  return seconds >= 1000 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.3g} s", seconds);
}

std::string WithTime(const Contender& contender) {
  return fmt::format("{} ({})", contender.name, TimeText(MeanOf(contender)));
}

std::string Behind(const Contender& contender, const Contender& first) {
  const double ratio = MeanOf(contender) / MeanOf(first);
  return ratio < 1.995 ? fmt::format("{} takes {:.2g} % longer ({})", contender.name, 100 * (ratio - 1),
                                     TimeText(MeanOf(contender)))
                       : fmt::format("{} takes {:.2g} times as long ({})", contender.name, ratio,
                                     TimeText(MeanOf(contender)));
}

// In how many runs it got there.
std::size_t RunsThere(const Contender& contender) {
  return static_cast<std::size_t>(
      std::ranges::count_if(contender.seconds, [](double seconds) { return std::isfinite(seconds); }));
}

// "psp:3 in 1 of 3 runs"
std::string OfItsRuns(const Contender& contender) {
  return fmt::format("{} in {} of {} runs", contender.name, RunsThere(contender), contender.seconds.size());
}

}  // namespace

bool IsBeyondSpread(const Contender& one, const Contender& other) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < std::min(one.seconds.size(), other.seconds.size()); ++i) {
    const double difference = one.seconds[i] - other.seconds[i];
    if (std::isfinite(difference)) differences.push_back(difference);
  }
  if (differences.size() < 2) return false;
  const scenario::Spread spread = scenario::SpreadOf(differences);
  return std::abs(spread.mean) > spread.deviation;
}

std::string RankingText(const std::string& goal, std::vector<Contender> contenders) {
  // The mean of a contender over its lucky seeds is no time to compare with others.
  std::vector<std::string> never, partly;
  std::erase_if(contenders, [&](const Contender& contender) {
    const std::size_t there = RunsThere(contender);
    if (there > 0 && there == contender.seconds.size()) return false;
    if (there == 0)
      never.push_back(contender.name);
    else
      partly.push_back(OfItsRuns(contender));
    return true;
  });
  if (contenders.empty())
    return partly.empty() ? "" : fmt::format("None gets to {} in all runs: {}.", goal, Listed(partly));
  std::ranges::stable_sort(contenders, {}, MeanOf);
  const Contender& first = contenders.front();
  const bool one_seed = first.seconds.size() < 2;
  std::vector<std::string> same, behind;
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    const bool is_named = contenders.size() <= kNamedMax || i + 1 == contenders.size();
    const bool is_same =
        one_seed ? MeanOf(contenders[i]) < kTie * MeanOf(first) : !IsBeyondSpread(contenders[i], first);
    if (is_same)
      same.push_back(WithTime(contenders[i]));
    else if (is_named)
      behind.push_back(Behind(contenders[i], first));
  }
  std::string text =
      fmt::format("{} is the first to {}, after {}", first.name, goal, TimeText(MeanOf(first)));
  if (!same.empty())
    text +=
        fmt::format("; {} {} not distinguishable from it{}", Listed(same), same.size() == 1 ? "is" : "are",
                    one_seed ? "" : fmt::format(" over {} seeds", first.seconds.size()));
  if (!behind.empty()) text += "; " + Listed(behind);
  if (!partly.empty()) text += fmt::format("; not always there: {}", Listed(partly));
  if (!never.empty())
    text += fmt::format("; {} never {} there", Listed(never), never.size() == 1 ? "gets" : "get");
  return text + (one_seed ? " (one seed: the spread is not known)." : ".");
}

}  // namespace leeway::app
