#include "problem/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace leeway::problem {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

TEST(CrossEntropyTest, LossAndGradientAreThoseOfTheTextbook) {
  const std::vector<float> scores = {1.0F, 2.0F, 0.5F, -1.0F, 0.0F, 3.0F};
  const std::vector<std::uint8_t> labels = {1, 0};
  std::vector<float> gradient(6);
  const CrossEntropy measured = MeasureCrossEntropy({scores, labels, 3}, gradient);
  double loss = 0;
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += std::exp(double{scores[3 * row + c]});
    for (std::size_t c = 0; c < 3; ++c) {
      const double probability = std::exp(double{scores[3 * row + c]}) / sum;
      if (c == labels[row]) loss -= std::log(probability);
      EXPECT_NEAR(gradient[3 * row + c], (probability - (c == labels[row] ? 1 : 0)) / 2, 1e-7);
    }
  }
  EXPECT_NEAR(measured.loss_sum, loss, 1e-12);
  EXPECT_EQ(measured.right, 1U);
  EXPECT_EQ(MeasureCrossEntropy({scores, labels, 3}).loss_sum, measured.loss_sum);
}

TEST(CrossEntropyTest, LargeScoresDoNotOverflow) {
  const std::vector<float> scores = {3e38F, -3e38F};
  const std::vector<std::uint8_t> label = {1};
  std::vector<float> gradient(2);
  const CrossEntropy measured = MeasureCrossEntropy({scores, label, 2}, gradient);
  EXPECT_GT(measured.loss_sum, 1e38);
  EXPECT_TRUE(std::isfinite(measured.loss_sum));
  EXPECT_EQ(gradient, (std::vector<float>{1.0F, -1.0F}));
}

TEST(CrossEntropyTest, ARowThatIsNotANumberIsWrongAndSoIsItsLoss) {
  for (const std::vector<float>& scores :
       {std::vector<float>{kNoNumber, 1.0F}, std::vector<float>{1.0F, kNoNumber},
        std::vector<float>{std::numeric_limits<float>::infinity(), 1.0F}}) {
    for (const std::uint8_t label : {std::uint8_t{0}, std::uint8_t{1}}) {
      const std::vector<std::uint8_t> labels = {label};
      const CrossEntropy measured = MeasureCrossEntropy({scores, labels, 2});
      EXPECT_EQ(measured.right, 0U);
      EXPECT_TRUE(std::isnan(measured.loss_sum));
    }
  }
}

}  // namespace
}  // namespace leeway::problem
