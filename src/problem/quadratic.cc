// quadratic: f(w) = 1/2 sum_i a_i (w_i - w*_i)^2, with a known optimum. The a_i lie evenly on a logarithmic
// scale from 1 / condition to 1; a gradient has noise in every component.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/hash.h"
#include "base/policy_config.h"
#include "problem/image_shelf.h"
#include "problem/normal_draw.h"
#include "problem/problem.h"

namespace leeway::problem {
namespace {

struct QuadraticShape {
  std::size_t dimensions;
  std::size_t tables;
  double condition;
  double noise;  // standard deviation in every component of the gradient of one sample
  std::uint32_t batch;
};

// The purpose of a hash, so that no two purposes see the same draws.
enum QuadraticDraw : std::uint64_t { kOptimumDraw = 0x51, kBeginDraw = 0x52, kNoiseDraw = 0x53 };

float Signed(std::uint64_t bits) { return static_cast<float>(2.0 * UnitInterval(bits) - 1.0); }

class Quadratic final : public Problem {
 public:
  explicit Quadratic(const QuadraticShape& shape)
      : batch_(shape.batch), noise_(shape.noise / std::sqrt(static_cast<double>(shape.batch))) {
    const double steps = std::max<double>(1.0, static_cast<double>(shape.dimensions) - 1.0);
    for (std::size_t t = 0; t < shape.tables; ++t) {
      // Takes every tables-th dimension, so that each table has flat and steep ones alike.
      for (std::size_t i = t; i < shape.dimensions; i += shape.tables) {
        const double down = 1.0 - static_cast<double>(i) / steps;
        steepness_.push_back(
            static_cast<float>(shape.dimensions == 1 ? 1.0 : std::exp(-std::log(shape.condition) * down)));
        optimum_.push_back(Signed(Hash64({kOptimumDraw, i})));
      }
      first_.push_back(first_.empty() ? 0 : first_.back() + SizeOf(t - 1));
      tables_.push_back(
          {fmt::format("w{}", t), {static_cast<std::int64_t>(steepness_.size() - first_.back())}});
    }
  }

  const std::vector<Table>& tables() const override { return tables_; }
  std::uint32_t batch() const override { return batch_; }

  void Begin(std::uint64_t seed, MutableValues values) const override {
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      for (std::size_t j = 0; j < values[t].size(); ++j) {
        values[t][j] = Signed(Hash64({kBeginDraw, seed, first_[t] + j}));
      }
    }
  }

  // The loss of a batch is f(w) + n (w - w*) with a noise n of its own: its gradient is that of f plus n, and
  // its mean over all batches is f.
  double Gradient(const BatchKey& batch, Values at, MutableValues gradient) override {
    const std::uint64_t drawn = Hash64({kNoiseDraw, batch.seed, batch.rank, batch.step});
    double loss = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      LW_CHECK(at[t].size() == SizeOf(t) && gradient[t].size() == SizeOf(t),
               "table {}: {} values, {} gradients", t, at[t].size(), gradient[t].size());
      for (std::size_t j = 0; j < SizeOf(t); ++j) {
        const std::size_t i = first_[t] + j;
        const double away = static_cast<double>(at[t][j]) - optimum_[i];
        const double slope = steepness_[i] * away;
        const double noise =
            noise_ > 0 ? noise_ * NormalDraw(Mix64(drawn + 2 * i), Mix64(drawn + 2 * i + 1)) : 0;
        loss += (0.5 * slope + noise) * away;
        gradient[t][j] = static_cast<float>(slope + noise);
      }
    }
    return loss;
  }

  Judgement Judge(Values at) override {
    double loss = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      LW_CHECK(at[t].size() == SizeOf(t), "table {}: {} values", t, at[t].size());
      for (std::size_t j = 0; j < SizeOf(t); ++j) {
        const double away = static_cast<double>(at[t][j]) - optimum_[first_[t] + j];
        loss += 0.5 * steepness_[first_[t] + j] * away * away;
      }
    }
    return {loss, std::numeric_limits<double>::quiet_NaN()};
  }

 private:
  [[nodiscard]] std::size_t SizeOf(std::size_t table) const {
    return static_cast<std::size_t>(tables_[table].shape[0]);
  }

  const std::uint32_t batch_;
  const double noise_;  // of a batch
  std::vector<Table> tables_;
  std::vector<std::size_t> first_;  // of each table, in the two below
  std::vector<float> steepness_;
  std::vector<float> optimum_;
};

}  // namespace

Result<ProblemPtr> MakeQuadratic(const PolicyConfig& config, ImageShelf&) {
  LW_ASSIGN_OR_RETURN(const std::int64_t dimensions, config.IntInRange("dimensions", 1, 10'000'000, 1'000));
  const std::int64_t tables_max = std::min<std::int64_t>(dimensions, 10'000);
  LW_ASSIGN_OR_RETURN(const std::int64_t tables,
                      config.IntInRange("tables", 1, tables_max, std::min<std::int64_t>(4, tables_max)));
  LW_ASSIGN_OR_RETURN(const double condition, config.DoubleInRange("condition", 1.0, 1e12, 100.0));
  LW_ASSIGN_OR_RETURN(const double noise, config.DoubleInRange("noise", 0.0, 1e6, 0.1));
  LW_ASSIGN_OR_RETURN(const std::int64_t batch, config.IntInRange("batch", 1, 1'000'000, 1));
  return ProblemPtr(std::make_unique<Quadratic>(QuadraticShape{static_cast<std::size_t>(dimensions),
                                                               static_cast<std::size_t>(tables), condition,
                                                               noise, static_cast<std::uint32_t>(batch)}));
}

}  // namespace leeway::problem
