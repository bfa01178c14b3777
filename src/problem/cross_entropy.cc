#include "problem/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace leeway::problem {
namespace {

struct ScoreRow {
  std::size_t best = 0;
  double highest = 0;
  double exponentials = 0;  // the sum of e^(score - highest)
};

// Subtracts the highest score from all, so that no exponential overflows.
ScoreRow Summarize(std::span<const float> scores) {
  ScoreRow row;
  row.best = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
  row.highest = scores[row.best];
  for (const float score : scores) row.exponentials += std::exp(score - row.highest);
  return row;
}

void Count(const ScoreRow& row, std::span<const float> scores, std::size_t label, CrossEntropy& sum) {
  sum.loss_sum += std::log(row.exponentials) - (scores[label] - row.highest);
  // A NaN score beats no other and no other beats it: that row counts as wrong.
  if (row.best == label && row.exponentials >= 1.0) ++sum.right;
}

}  // namespace

CrossEntropy MeasureCrossEntropy(const ClassScores& given) {
  CrossEntropy sum;
  for (std::size_t i = 0; i < given.labels.size(); ++i) {
    const std::span<const float> scores = given.scores.subspan(i * given.classes, given.classes);
    Count(Summarize(scores), scores, given.labels[i], sum);
  }
  return sum;
}

CrossEntropy MeasureCrossEntropy(const ClassScores& given, std::span<float> gradient) {
  LW_CHECK(gradient.size() >= given.labels.size() * given.classes, "{} values for {} rows of {}",
           gradient.size(), given.labels.size(), given.classes);
  CrossEntropy sum;
  const double share = 1.0 / static_cast<double>(given.labels.size());
  for (std::size_t i = 0; i < given.labels.size(); ++i) {
    const std::span<const float> scores = given.scores.subspan(i * given.classes, given.classes);
    const ScoreRow row = Summarize(scores);
    Count(row, scores, given.labels[i], sum);
    for (std::size_t c = 0; c < given.classes; ++c) {
      const double probability = std::exp(scores[c] - row.highest) / row.exponentials;
      gradient[i * given.classes + c] =
          static_cast<float>(share * (probability - (c == given.labels[i] ? 1.0 : 0.0)));
    }
  }
  return sum;
}

}  // namespace leeway::problem
