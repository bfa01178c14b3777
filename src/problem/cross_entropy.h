// Cross entropy of classes given by scores: the loss of a classifier, its gradient, and its number of right
// answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leeway::problem {

struct ClassScores {
  std::span<const float> scores;         // classes for each row
  std::span<const std::uint8_t> labels;  // one for each row, below classes
  std::size_t classes = 0;
};

struct CrossEntropy {
  double loss_sum = 0;    // over the rows
  std::size_t right = 0;  // rows whose label has the highest score
};

[[nodiscard]] CrossEntropy MeasureCrossEntropy(const ClassScores& given);

// Also writes the gradient of the mean loss by the scores.
// REQUIRES: a gradient of at least as many values as there are scores.
CrossEntropy MeasureCrossEntropy(const ClassScores& given, std::span<float> gradient);

}  // namespace leeway::problem
