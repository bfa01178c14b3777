#include "sync/when_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::array kVTrains = {0.0, 1.0, 2.0, 5.0, 10.0, 100.0, 1e3, 1e4, 1e6};
constexpr std::array kWorkerCounts = {1.0, 2.0, 3.0, 4.0, 8.0, 64.0, 1024.0};
constexpr std::array kShares = {0.0, 0.5, 1.0};  // of the workers that count already
constexpr std::array kSlowGaps = {-1.0, 0.0, 1.0};
constexpr std::array kLeads = {0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 100.0};  // of the fastest over the slowest
constexpr std::array kSignificances = {0.0, 1e-3, 0.1, 1.0, 10.0};
constexpr std::array kCoins = {1e-9, 0.25, 0.5, 0.9, 1.0};

// The trial follows workers that nothing has stopped up to this gap.
constexpr int kGapEnd = 128;

bool UsesAny(const Formula& formula, std::initializer_list<ConditionName> names) {
  return std::ranges::any_of(names, [&](ConditionName name) { return formula.Uses(name); });
}
// All of `values` if they make a difference, else one.
std::span<const double> If(bool differs, std::span<const double> values) {
  return differs ? values : values.last(1);
}

// A formula on one state after the other: whether it was ever true, and whether it was ever not a number.
class Trial {
 public:
  explicit Trial(Formula& formula) : formula_(formula) {}

  // False when the trial is over, because a value was not a number.
  bool Ask() {
    const double value = formula_.Value();
    finite_ = std::isfinite(value);
    true_ = true_ || (finite_ && value != 0.0);
    return finite_;
  }
  Status Outcome(const char* never) const {
    if (!finite_)
      return InvalidArgument("got a value that is no finite number in some states, wanted one in all");
    return true_ ? Status::Ok() : InvalidArgument("{}", never);
  }

 private:
  Formula& formula_;
  bool true_ = false;
  bool finite_ = true;
};

// Sets the variables that both conditions see and calls `ask` for each state; false when `ask` returned
// false.
template <typename Ask>
bool ForEachState(Formula& formula, std::span<const double> shares, std::span<const double> slow_gaps,
                  const Ask& ask) {
  // A variable that no formula uses changes nothing. The positions of workers are relative to v_train and to
  // each other.
  const bool leads = UsesAny(formula, {kFastest, kProgress, kGap});
  const bool places = leads || formula.Uses(kSlowest);
  for (const double v_train : If(places || formula.Uses(kVTrain), kVTrains)) {
    formula.Set(kVTrain, v_train);
    for (const double workers : If(UsesAny(formula, {kWorkers, kCount}), kWorkerCounts)) {
      formula.Set(kWorkers, workers);
      for (const double share : If(formula.Uses(kCount), shares)) {
        formula.Set(kCount, std::floor(workers * share));
        for (const double slow_gap : If(places, slow_gaps)) {
          formula.Set(kSlowest, v_train + slow_gap);
          for (const double lead : If(leads, kLeads)) {
            formula.Set(kFastest, v_train + slow_gap + lead);
            if (!ask(v_train, v_train + slow_gap, v_train + slow_gap + lead)) return false;
          }
        }
      }
    }
  }
  return true;
}

// Calls `ask` for the coins and significances of a pull; false when `ask` returned false.
template <typename Ask>
bool ForEachChance(Formula& pull, const Ask& ask) {
  for (const double significance : If(pull.Uses(kSignificance), kSignificances)) {
    pull.Set(kSignificance, significance);
    for (const double coin : If(pull.Uses(kRand), kCoins)) {
      pull.Set(kRand, coin);
      if (!ask()) return false;
    }
  }
  return true;
}

bool Holds(Formula& formula) {
  const double value = formula.Value();
  return std::isfinite(value) && value != 0.0;
}

// All workers are in the same iteration, `gap` beyond v_train, and have sent it.
void SetAbreast(Formula& formula, double v_train, double workers, double gap) {
  formula.Set(kVTrain, v_train);
  formula.Set(kWorkers, workers);
  formula.Set(kCount, workers);
  formula.Set(kSlowest, v_train + gap);
  formula.Set(kFastest, v_train + gap);
}

// Returns whether a worker with this gap can pass with any coin.
bool MayGoOn(Formula& pull, double v_train, double workers, double gap) {
  SetAbreast(pull, v_train, workers, gap);
  pull.Set(kProgress, v_train + gap);
  pull.Set(kGap, gap);
  return !ForEachChance(pull, [&] { return !Holds(pull); });
}

// Returns the gap at which workers in step all wait though the block does not advance; nullopt if no gap up
// to kGapEnd does so.
std::optional<int> StopsAt(Formula& pull, Formula& push, double v_train, double workers) {
  for (int gap = 0; gap < kGapEnd; ++gap) {
    SetAbreast(push, v_train, workers, gap);
    if (Holds(push)) return std::nullopt;
    if (!MayGoOn(pull, v_train, workers, gap)) return gap;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> PullNames() {
  return {"v_train", "workers", "count", "fastest", "slowest", "progress", "gap", "significance", "rand"};
}
std::vector<std::string> PushNames() { return {"v_train", "workers", "count", "fastest", "slowest"}; }

std::vector<ForeignName> NamesOfPullsOnly() {
  const std::string why =
      "which belongs to a pull; a push condition knows v_train, workers, count, fastest, slowest";
  return {
      {"progress", why},
      {"gap", why},
      {"significance", why},
      {"rand",
       "which is the coin of a pull; a push condition is asked again and again, and would pass in the end "
       "whatever it says"}};
}

Status TryPullCondition(Formula& formula) {
  Trial trial(formula);
  const auto ask = [&](double v_train, double slowest, double fastest) {
    for (const double progress : {slowest, fastest}) {
      formula.Set(kProgress, progress);
      formula.Set(kGap, progress - v_train);
      if (!ForEachChance(formula, [&] { return trial.Ask(); })) return false;
    }
    return true;
  };
  (void)ForEachState(formula, kShares, kSlowGaps, ask);
  return trial.Outcome(
      "got a condition that is false for the slowest and for the fastest worker in every state tried, wanted "
      "one that lets somebody pass");
}

Status TryPushCondition(Formula& formula) {
  Trial trial(formula);
  const auto ask = [&](double, double, double) { return trial.Ask(); };
  constexpr std::array kAll = {1.0};
  constexpr std::array kNobodyBehind = {0.0, 1.0};
  (void)ForEachState(formula, kAll, kNobodyBehind, ask);
  return trial.Outcome(
      "got a condition that is false in every state tried even when everybody's contribution is in, wanted "
      "one that lets the block go on then");
}

Status TryConditionsTogether(Formula& pull, Formula& push) {
  const bool places =
      UsesAny(pull, {kVTrain, kProgress, kFastest, kSlowest}) || UsesAny(push, {kVTrain, kFastest, kSlowest});
  const bool counts = UsesAny(pull, {kWorkers, kCount}) || UsesAny(push, {kWorkers, kCount});
  for (const double v_train : If(places, kVTrains)) {
    for (const double workers : If(counts, kWorkerCounts)) {
      const std::optional<int> gap = StopsAt(pull, push, v_train, workers);
      if (!gap) continue;
      return InvalidArgument(
          "got a condition that is false when all workers ({}) have sent iteration {} and wait there "
          "(v_train "
          "is {}, and pull \"{}\" lets nobody go on), wanted one that is true then, or the job stops: append "
          "|| count >= workers",
          workers, v_train + *gap, v_train, pull.text());
    }
  }
  return Status::Ok();
}

}  // namespace leeway
