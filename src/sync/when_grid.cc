#include "sync/when_grid.h"

#include <array>
#include <cmath>
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

// A formula on one state after the other: whether it was ever true, and whether it was ever no number.
class Trial {
 public:
  explicit Trial(Formula& formula) : formula_(formula) {}

  // All of `values` if the formula has the name, else one: the others would change nothing.
  std::span<const double> Of(ConditionName name, std::span<const double> values) const {
    return formula_.Uses(name) ? values : values.last(1);
  }
  // False when the trial is over, because there was no number.
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

// Sets what both conditions see and calls `ask` for each; false when it said so.
template <typename Ask>
bool ForEachState(Formula& formula, const Trial& trial, std::span<const double> shares,
                  std::span<const double> slow_gaps, const Ask& ask) {
  for (const double v_train : kVTrains) {
    formula.Set(kVTrain, v_train);
    for (const double workers : kWorkerCounts) {
      formula.Set(kWorkers, workers);
      for (const double share : trial.Of(kCount, shares)) {
        formula.Set(kCount, std::floor(workers * share));
        for (const double slow_gap : slow_gaps) {
          formula.Set(kSlowest, v_train + slow_gap);
          for (const double lead : kLeads) {
            formula.Set(kFastest, v_train + slow_gap + lead);
            if (!ask(v_train, v_train + slow_gap, v_train + slow_gap + lead)) return false;
          }
        }
      }
    }
  }
  return true;
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
      for (const double significance : trial.Of(kSignificance, kSignificances)) {
        formula.Set(kSignificance, significance);
        for (const double coin : trial.Of(kRand, kCoins)) {
          formula.Set(kRand, coin);
          if (!trial.Ask()) return false;
        }
      }
    }
    return true;
  };
  (void)ForEachState(formula, trial, kShares, kSlowGaps, ask);
  return trial.Outcome(
      "got a condition that is false for the slowest and for the fastest worker in every state tried, wanted "
      "one that lets somebody pass");
}

Status TryPushCondition(Formula& formula) {
  Trial trial(formula);
  const auto ask = [&](double, double, double) { return trial.Ask(); };
  constexpr std::array kAll = {1.0};
  constexpr std::array kNobodyBehind = {0.0, 1.0};
  (void)ForEachState(formula, trial, kAll, kNobodyBehind, ask);
  return trial.Outcome(
      "got a condition that is false in every state tried even when everybody's contribution is in, wanted "
      "one "
      "that lets the block go on then");
}

}  // namespace leeway
