// Each optimizer against torch's formulas written plainly in double, over sizes, steps and hyper-parameters.
#include "optimizer/optimizers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"

namespace leeway {
namespace {

// State of one value, in double.
struct Reference {
  double w = 0, buf = 0, m = 0, v = 0;

  void Step(const std::string& name, double g, double lr, const Hyper& h, int step) {
    const double wd = h.weight_decay;
    if (name.starts_with("adagrad")) {
      const bool arguments = name != "adagrad";
      if (step == 1) v = arguments ? 0.1 : 0.0;
      const double grad = g + wd * w;
      v += grad * grad;
      w -= lr / (1.0 + (step - 1) * (arguments ? 0.01 : 0.0)) * grad / (std::sqrt(v) + h.eps);
    } else if (name.starts_with("rmsprop")) {
      const double grad = g + wd * w, alpha = h.beta2;
      v = alpha * v + (1.0 - alpha) * grad * grad;
      m = alpha * m + (1.0 - alpha) * grad;
      const double spread = name.find("centered=1") == std::string::npos ? v : v - m * m;
      const double move = grad / (std::sqrt(spread) + h.eps);
      buf = name.find("momentum=1") == std::string::npos ? move : h.momentum * buf + move;
      w -= lr * buf;
    } else if (name == "sgd") {
      w -= lr * (g + wd * w);
    } else if (name == "momentum" || name == "nesterov") {
      const double grad = g + wd * w;
      buf = step == 1 ? grad : h.momentum * buf + (1.0 - h.dampening) * grad;
      w -= lr * (name == "nesterov" ? grad + h.momentum * buf : buf);
    } else {
      double grad = g;
      if (name == "adamw") {
        w *= 1.0 - lr * wd;
      } else {
        grad += wd * w;
      }
      const double beta1 = h.momentum, beta2 = h.beta2;
      m = beta1 * m + (1.0 - beta1) * grad;
      v = beta2 * v + (1.0 - beta2) * grad * grad;
      const double bc1 = 1.0 - std::pow(beta1, step), bc2 = 1.0 - std::pow(beta2, step);
      w -= lr / bc1 * m / (std::sqrt(v) / std::sqrt(bc2) + h.eps);
    }
  }
};

float OptimizerNumber(std::uint64_t seed, std::uint64_t i) {
  return static_cast<float>(UnitInterval(Hash64({seed, i})) * 2.0 - 1.0);
}

OptimizerPtr MakeOptimizerNamed(const std::string& name) {
  auto made = BuiltinOptimizers().MakeFromSpec(name);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return std::move(made).value();
}

// A block's worth of buffers for one optimizer.
class OptimizerRun {
 public:
  OptimizerRun(const std::string& name, std::size_t n) : optimizer_(MakeOptimizerNamed(name)), w_(n) {
    for (int i = 0; i < optimizer_->slots(); ++i) slots_.emplace_back(n, optimizer_->initial(i));
  }
  std::vector<float>& w() { return w_; }

  bool Step(const std::vector<float>& g, const Hyper& hyper, std::uint64_t step, float g_scale = 1,
            float lr_scale = 1) {
    std::vector<float> w_out(w_.size(), -99.0F);
    auto slots_out = slots_;
    std::vector<std::span<const float>> in;
    std::vector<std::span<float>> out;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      in.emplace_back(slots_[i]);
      out.emplace_back(slots_out[i]);
    }
    const bool finite = optimizer_->Step({.w = w_,
                                          .g = g,
                                          .g_scale = g_scale,
                                          .lr_scale = lr_scale,
                                          .step = step,
                                          .hyper = hyper,
                                          .slots = in},
                                         {.w = w_out, .slots = out});
    w_ = w_out;
    slots_ = slots_out;
    return finite;
  }

 private:
  OptimizerPtr optimizer_;
  std::vector<float> w_;
  std::vector<std::vector<float>> slots_;
};

struct HyperCase {
  const char* what;
  Hyper hyper;
};

std::vector<HyperCase> HyperCases() {
  return {{"plain", {.lr = 0.05F}},
          {"decay", {.lr = 0.05F, .weight_decay = 0.1F}},
          {"dampened", {.lr = 0.02F, .weight_decay = 0.01F, .momentum = 0.8F, .dampening = 0.3F}},
          {"slow betas", {.lr = 0.01F, .momentum = 0.5F, .beta2 = 0.9F, .eps = 1e-3F}},
          {"no momentum", {.lr = 0.1F, .momentum = 0.0F}}};
}

TEST(OptimizersTest, FollowTorchsFormulas) {
  for (const char* name :
       {"sgd", "momentum", "nesterov", "adam", "adamw", "adagrad", "adagrad:lr_decay=0.01,initial=0.1",
        "rmsprop", "rmsprop:centered=1", "rmsprop:momentum=1", "rmsprop:centered=1,momentum=1"}) {
    for (const HyperCase& c : HyperCases()) {
      for (const std::size_t n : {0U, 1U, 7U, 64U, 1000U, 4099U}) {
        OptimizerRun run(name, n);
        std::vector<Reference> reference(n);
        for (std::size_t i = 0; i < n; ++i) reference[i].w = run.w()[i] = OptimizerNumber(1, i);
        for (int step = 1; step <= 6; ++step) {
          std::vector<float> g(n);
          for (std::size_t i = 0; i < n; ++i)
            g[i] = OptimizerNumber(static_cast<std::uint64_t>(step) + 10, i);
          ASSERT_TRUE(run.Step(g, c.hyper, static_cast<std::uint64_t>(step), 0.25F, 0.5F));
          for (std::size_t i = 0; i < n; ++i) {
            reference[i].Step(name, static_cast<double>(g[i]) * 0.25, static_cast<double>(c.hyper.lr) * 0.5,
                              c.hyper, step);
            ASSERT_NEAR(run.w()[i], reference[i].w, 2e-6 * (1.0 + std::abs(reference[i].w)))
                << name << ", " << c.what << ", n " << n << ", step " << step;
          }
        }
      }
    }
  }
}

// One table under lars, in double.
struct LarsReference {
  std::vector<double> w, buf;

  void Step(const std::vector<float>& g, double g_scale, double lr, const Hyper& h, int step, bool nesterov,
            bool excluded) {
    double ww = 0, gg = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      ww += w[i] * w[i];
      gg += static_cast<double>(g[i]) * g_scale * static_cast<double>(g[i]) * g_scale;
    }
    const double wd = excluded ? 0.0 : static_cast<double>(h.weight_decay);
    const double w_norm = std::sqrt(ww), g_norm = std::sqrt(gg);
    double trust = 1.0;
    if (!excluded && w_norm > 0 && g_norm > 0) trust = 0.02 * w_norm / (g_norm + wd * w_norm + h.eps);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double grad = (static_cast<double>(g[i]) * g_scale + wd * w[i]) * trust;
      buf[i] = step == 1 ? grad : h.momentum * buf[i] + (1.0 - h.dampening) * grad;
      w[i] -= lr * (nesterov ? grad + h.momentum * buf[i] : buf[i]);
    }
  }
};

TEST(OptimizersTest, LarsScalesAWholeTableByItsNorms) {
  for (const bool nesterov : {false, true}) {
    for (const bool excluded : {false, true}) {
      const std::string name = "lars:trust=0.02,nesterov=" + std::to_string(nesterov ? 1 : 0) +
                               ",excluded=" + std::to_string(excluded ? 1 : 0);
      EXPECT_EQ(MakeOptimizerNamed(name)->whole_table(), !excluded);
      for (const HyperCase& c : HyperCases()) {
        for (const std::size_t n : {1U, 7U, 64U, 4099U}) {
          OptimizerRun run(name, n);
          LarsReference reference{std::vector<double>(n), std::vector<double>(n)};
          for (std::size_t i = 0; i < n; ++i) reference.w[i] = run.w()[i] = OptimizerNumber(1, i);
          for (int step = 1; step <= 6; ++step) {
            std::vector<float> g(n);
            for (std::size_t i = 0; i < n; ++i)
              g[i] = OptimizerNumber(static_cast<std::uint64_t>(step) + 10, i);
            ASSERT_TRUE(run.Step(g, c.hyper, static_cast<std::uint64_t>(step), -0.25F, 0.5F));
            reference.Step(g, -0.25, static_cast<double>(c.hyper.lr) * 0.5, c.hyper, step, nesterov,
                           excluded);
            for (std::size_t i = 0; i < n; ++i)
              ASSERT_NEAR(run.w()[i], reference.w[i], 2e-6) << name << ", " << c.what << ", n " << n;
          }
        }
      }
    }
  }
}

TEST(OptimizersTest, LarsTakesTheGradientAsItIsWhereANormIsZero) {
  OptimizerRun run("lars", 2);
  run.w() = {0, 0};
  ASSERT_TRUE(run.Step({1, -2}, {.lr = 0.5F}, 1));
  EXPECT_EQ(run.w(), (std::vector<float>{-0.5F, 1.0F}));
}

TEST(OptimizersTest, ArgumentsDecideHowMuchStateThereIsAndHowItBegins) {
  EXPECT_EQ(MakeOptimizerNamed("rmsprop")->slots(), 1);
  EXPECT_EQ(MakeOptimizerNamed("rmsprop:centered=1")->slots(), 2);
  EXPECT_EQ(MakeOptimizerNamed("rmsprop:momentum=1")->slots(), 2);
  EXPECT_EQ(MakeOptimizerNamed("rmsprop:centered=1,momentum=1")->slots(), 3);
  EXPECT_EQ(MakeOptimizerNamed("adagrad:initial=0.5")->initial(0), 0.5F);
  EXPECT_EQ(MakeOptimizerNamed("adagrad")->initial(0), 0.0F);
  EXPECT_EQ(MakeOptimizerNamed("adam")->initial(1), 0.0F);
  EXPECT_FALSE(MakeOptimizerNamed("momentum")->whole_table());
  for (const char* bad :
       {"adagrad:initial=-1", "rmsprop:centered=2", "lars:trust=0", "lars:trsut=1", "adam:1"})
    EXPECT_FALSE(BuiltinOptimizers().MakeFromSpec(bad).ok()) << bad;
}

TEST(OptimizersTest, TheFirstMomentumStepTakesTheGradientUndampened) {
  for (const char* name : {"momentum", "nesterov"}) {
    OptimizerRun run(name, 1);
    run.w()[0] = 0.0F;
    ASSERT_TRUE(run.Step({2.0F}, {.lr = 1.0F, .momentum = 0.5F, .dampening = 0.5F}, 1));
    EXPECT_EQ(run.w()[0], std::string(name) == "momentum" ? -2.0F : -3.0F);
  }
}

TEST(OptimizersTest, SumAddsWhatWasPushedAndMeanTakesItsMean) {
  OptimizerRun sum("sum", 3);
  sum.w() = {1, 2, 3};
  ASSERT_TRUE(sum.Step({10, 20, 30}, {.lr = 0.1F, .weight_decay = 0.5F}, 1, 0.5F, 0.25F));
  EXPECT_EQ(sum.w(), (std::vector<float>{11, 22, 33}));
  OptimizerRun mean("mean", 3);
  mean.w() = {1, 2, 3};
  ASSERT_TRUE(mean.Step({10, 20, 30}, {.lr = 0.1F}, 1, 0.5F, 0.25F));
  EXPECT_EQ(mean.w(), (std::vector<float>{5, 10, 15}));
}

TEST(OptimizersTest, ABadValueAnywhereIsTold) {
  for (const std::string& name : BuiltinOptimizers().names()) {
    for (const std::size_t n : {1U, 7U, 64U, 1000U}) {
      for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
          OptimizerRun run(name, n);
          std::vector<float> g(n, 0.5F);
          g[at] = bad;
          EXPECT_FALSE(run.Step(g, {}, 1)) << name << " n " << n << " at " << at;
        }
      }
    }
  }
}

TEST(OptimizersTest, StateThatOverflowsIsToldThoughTheValuesAreFinite) {
  OptimizerRun adam("adam", 8);
  EXPECT_FALSE(adam.Step(std::vector<float>(8, 1e30F), {}, 1)) << "the square overflows; m / sqrt(inf) is 0";
}

}  // namespace
}  // namespace leeway
