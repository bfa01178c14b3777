// Every kernel against a plain loop, bit for bit: on every vector unit, for all sizes around a vector's, at
// all alignments, with values of every kind.
#include "optimizer/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "optimizer/kernel_target.h"

namespace leeway {
namespace {

constexpr float kKernelNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kKernelInf = std::numeric_limits<float>::infinity();
constexpr float kGuard = -77.25F;  // around every output
constexpr std::size_t kAlignments = 16;

using Values = std::vector<float>;
using Inputs = std::vector<std::span<const float>>;
using Outputs = std::vector<std::span<float>>;

// The kernel's effect on one value: from the i-th of every input to the i-th of every output.
using Plain = std::function<void(const Values& in, Values& out)>;
struct KernelCase {
  std::string name;
  std::size_t inputs, outputs;
  std::function<bool(const Inputs&, const Outputs&)> kernel;
  Plain plain;
  bool in_place = false;  // the first input is the output
  bool tells = true;      // the kernel says whether all is finite
  int tells_of = -1;      // of this input alone; -1: of all it wrote
};

enum class Kind { kTame, kTiny, kHuge, kAny };

// Tame: -1 to 1. Tiny: denormals, zeros of both signs and their neighbours. Huge: near overflow. Any: bits at
// random, so infinities and NaNs too.
float KernelNumber(Kind kind, std::uint64_t seed, std::uint64_t i) {
  const std::uint64_t hash = Hash64({seed, i});
  const auto unit = static_cast<float>(UnitInterval(hash) * 2.0 - 1.0);
  switch (kind) {
    case Kind::kTame:
      return unit;
    case Kind::kTiny:
      if (hash % 5 == 0) return hash % 2 == 0 ? 0.0F : -0.0F;
      return unit * (hash % 3 == 0 ? 1e-37F : 1e-39F);
    case Kind::kHuge:
      return unit * std::numeric_limits<float>::max();
    case Kind::kAny:
      if (hash % 7 == 0) return std::vector<float>{kKernelNan, kKernelInf, -kKernelInf, -0.0F}[hash / 7 % 4];
      return std::bit_cast<float>(static_cast<std::uint32_t>(hash >> 20U));
  }
  return 0;
}

// Which NaN it is is not promised.
bool SameBits(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

std::vector<KernelCase> SumCases() {
  std::vector<KernelCase> cases;
  cases.push_back({"AllFinite", 1, 0,
                   [](const Inputs& in, const Outputs&) { return kernels::AllFinite(in[0]); },
                   [](const Values&, Values&) {}});
  cases.push_back(
      {"AddScaled", 2, 1,
       [](const Inputs& in, const Outputs& out) { return kernels::AddScaled(out[0], in[1], 3.7F); },
       [](const Values& in, Values& out) { out[0] = in[0] + 3.7F * in[1]; }, true, true, 1});
  cases.push_back({"AddScaledInto", 2, 1,
                   [](const Inputs& in, const Outputs& out) {
                     return kernels::AddScaledInto(out[0], in[0], in[1], -0.3F);
                   },
                   [](const Values& in, Values& out) { out[0] = in[0] + -0.3F * in[1]; }, false, true, 1});
  cases.push_back(
      {"ScaleInto", 1, 1,
       [](const Inputs& in, const Outputs& out) { return kernels::ScaleInto(out[0], in[0], 3.7F); },
       [](const Values& in, Values& out) { out[0] = 3.7F * in[0]; }});
  cases.push_back({"Scale", 1, 1,
                   [](const Inputs&, const Outputs& out) {
                     kernels::Scale(out[0], 0.7F);
                     return true;
                   },
                   [](const Values& in, Values& out) { out[0] = 0.7F * in[0]; }, true, false});
  cases.push_back({"Add", 2, 1,
                   [](const Inputs& in, const Outputs& out) { return kernels::Add(out[0], in[0], in[1]); },
                   [](const Values& in, Values& out) { out[0] = in[0] + in[1]; }});
  cases.push_back(
      {"Compensate", 3, 1,
       [](const Inputs& in, const Outputs& out) {
         return kernels::Compensate(out[0], 0.4F, in[0], in[1], in[2]);
       },
       [](const Values& in, Values& out) { out[0] = in[0] + 0.4F * in[0] * in[0] * (in[1] - in[2]); }});
  for (const std::size_t count : {1U, 2U, 5U}) {
    cases.push_back({"MeanInto of " + std::to_string(count), count, 1,
                     [](const Inputs& in, const Outputs& out) {
                       std::vector<const float*> inputs;
                       std::vector<float> weights;
                       for (const auto& x : in) {
                         inputs.push_back(x.data());
                         weights.push_back(static_cast<float>(inputs.size()) * 1.1F);
                       }
                       return kernels::MeanInto(out[0], inputs, weights, 0.3F);
                     },
                     [](const Values& in, Values& out) {
                       float sum = 1.1F * in[0];
                       for (std::size_t k = 1; k < in.size(); ++k)
                         sum = sum + static_cast<float>(k + 1) * 1.1F * in[k];
                       out[0] = 0.3F * sum;
                     }});
  }
  return cases;
}

void AddMomentumCases(std::vector<KernelCase>& cases) {
  for (const bool first : {false, true}) {
    for (const bool nesterov : {false, true}) {
      const kernels::MomentumStep s{0.25F, 0.1F, 0.01F, 0.9F, 0.7F, 1.3F, first, nesterov};
      cases.push_back({std::string("Momentum") + (first ? " first" : "") + (nesterov ? " nesterov" : ""), 3,
                       2,
                       [s](const Inputs& in, const Outputs& out) {
                         return kernels::Momentum(s, in[0], in[1], in[2], out[0], out[1]);
                       },
                       [s](const Values& in, Values& out) {
                         const float grad = (in[1] * s.g_scale + s.decay * in[0]) * s.trust;
                         out[1] = s.first ? grad : s.mu * in[2] + s.keep * grad;
                         out[0] = in[0] - s.lr * (s.nesterov ? grad + s.mu * out[1] : out[1]);
                       }});
    }
  }
}

void AddRmspropCases(std::vector<KernelCase>& cases) {
  const kernels::RmspropStep s{0.25F, 0.1F, 0.01F, 0.9F, 0.1F, 1e-8F, 0.8F};
  for (const bool centered : {false, true}) {
    for (const bool momentum : {false, true}) {
      const std::size_t state = 1U + (centered ? 1U : 0U) + (momentum ? 1U : 0U);
      cases.push_back({std::string("Rmsprop") + (centered ? " centered" : "") + (momentum ? " momentum" : ""),
                       2 + state, 1 + state,
                       [=](const Inputs& in, const Outputs& out) {
                         kernels::RmspropState from{in[2], {}, {}};
                         kernels::RmspropOutput to{out[0], out[1], {}, {}};
                         if (centered) from.mean = in[3], to.mean = out[2];
                         if (momentum) from.buf = in.back(), to.buf = out.back();
                         return kernels::Rmsprop(s, in[0], in[1], from, to);
                       },
                       [=](const Values& in, Values& out) {
                         const float grad = in[1] * s.g_scale + s.decay * in[0];
                         const float square = out[1] = s.alpha * in[2] + s.keep * grad * grad;
                         float spread = square;
                         if (centered) {
                           out[2] = s.alpha * in[3] + s.keep * grad;
                           spread = square - out[2] * out[2];
                         }
                         float move = grad / (std::sqrt(spread) + s.eps);
                         if (momentum) out.back() = move = s.mu * in.back() + move;
                         out[0] = in[0] - s.lr * move;
                       }});
    }
  }
}

std::vector<KernelCase> StepCases() {
  std::vector<KernelCase> cases;
  const kernels::SgdStep sgd{0.25F, 0.1F, 0.01F};
  cases.push_back(
      {"Sgd", 2, 1,
       [=](const Inputs& in, const Outputs& out) { return kernels::Sgd(sgd, in[0], in[1], out[0]); },
       [=](const Values& in, Values& out) {
         out[0] = in[0] - sgd.lr * (in[1] * sgd.g_scale + sgd.decay * in[0]);
       }});
  AddMomentumCases(cases);
  const kernels::AdamStep adam{0.25F, 0.01F, 0.99F, 0.9F, 0.1F, 0.999F, 0.001F, 0.02F, 0.5F, 1e-8F};
  cases.push_back({"Adam", 4, 3,
                   [=](const Inputs& in, const Outputs& out) {
                     return kernels::Adam(adam, in[0], in[1], in[2], in[3], out[0], out[1], out[2]);
                   },
                   [=](const Values& in, Values& out) {
                     const float kept = in[0] * adam.shrink;
                     const float grad = in[1] * adam.g_scale + adam.decay * kept;
                     out[1] = adam.beta1 * in[2] + adam.keep1 * grad;
                     out[2] = adam.beta2 * in[3] + adam.keep2 * grad * grad;
                     out[0] =
                         kept - adam.step_size * (out[1] / (std::sqrt(out[2]) / adam.root_bc2 + adam.eps));
                   }});
  const kernels::AdagradStep adagrad{0.25F, 0.1F, 0.01F, 1e-10F};
  cases.push_back({"Adagrad", 3, 2,
                   [=](const Inputs& in, const Outputs& out) {
                     return kernels::Adagrad(adagrad, in[0], in[1], in[2], out[0], out[1]);
                   },
                   [=](const Values& in, Values& out) {
                     const float grad = in[1] * adagrad.g_scale + adagrad.decay * in[0];
                     out[1] = in[2] + grad * grad;
                     out[0] = in[0] - adagrad.lr * (grad / (std::sqrt(out[1]) + adagrad.eps));
                   }});
  AddRmspropCases(cases);
  return cases;
}

// Runs a case on `n` values whose inputs begin `align` floats into their memory and outputs a few more.
void CheckCase(const KernelCase& c, Kind kind, std::size_t n, std::size_t align, const std::string& where) {
  std::vector<Values> inputs, outputs;
  for (std::size_t k = 0; k < c.inputs; ++k) {
    Values& x = inputs.emplace_back(align + n);
    for (std::size_t i = 0; i < n; ++i) x[align + i] = KernelNumber(kind, k + 1, i);
  }
  outputs.assign(c.outputs, Values(n + 2 * kAlignments + 2, kGuard));
  Inputs in;
  Outputs out;
  for (const Values& x : inputs) in.push_back(std::span(x).subspan(align));
  std::size_t shift = 1 + align * 5 % kAlignments;
  for (Values& x : outputs) out.push_back(std::span(x).subspan(shift++ % kAlignments + 1, n));
  if (c.in_place) std::copy(in[0].begin(), in[0].end(), out[0].begin());
  const bool told = c.kernel(in, out);

  bool finite = true;
  Values one(c.inputs), wanted(c.outputs);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < c.inputs; ++k) one[k] = in[k][i];
    c.plain(one, wanted);
    for (std::size_t k = 0; k < c.outputs; ++k) {
      ASSERT_TRUE(SameBits(out[k][i], wanted[k]))
          << where << ": output " << k << " at " << i << ": got " << out[k][i] << ", wanted " << wanted[k];
      finite = finite && (c.tells_of >= 0 || std::isfinite(wanted[k]));
    }
    if (c.tells_of >= 0) finite = finite && std::isfinite(one[static_cast<std::size_t>(c.tells_of)]);
    if (c.outputs == 0) finite = finite && std::isfinite(one[0]);
  }
  if (c.tells) {
    ASSERT_EQ(told, finite) << where;
  }
  for (std::size_t k = 0; k < c.outputs; ++k) {
    ASSERT_EQ(*(out[k].data() - 1), kGuard) << where << ": wrote before output " << k;
    ASSERT_EQ(*(out[k].data() + n), kGuard) << where << ": wrote behind output " << k;
  }
}

// On every target, which is the processor's choice again afterwards.
class KernelsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kernels::UseTarget(GetParam()));
    ASSERT_EQ(kernels::Target(), GetParam()) << "the kernels run on another target than the one asked for";
  }
  void TearDown() override { kernels::UseTarget(""); }

  static void CheckAll(const std::vector<KernelCase>& cases) {
    std::vector<std::size_t> sizes(71);
    std::iota(sizes.begin(), sizes.end(), 0U);
    for (const KernelCase& c : cases) {
      for (const Kind kind : {Kind::kTame, Kind::kTiny, Kind::kHuge, Kind::kAny}) {
        const std::string where =
            GetParam() + ", " + c.name + ", kind " + std::to_string(static_cast<int>(kind)) + ", ";
        for (const std::size_t n : sizes) {
          for (std::size_t align = 0; align < kAlignments; ++align) {
            if (n > 40 && align % 5 != n % 5) continue;
            ASSERT_NO_FATAL_FAILURE(CheckCase(
                c, kind, n, align, where + std::to_string(n) + " values, align " + std::to_string(align)));
          }
        }
        for (const std::size_t n : {1001U, 4099U}) {
          ASSERT_NO_FATAL_FAILURE(CheckCase(c, kind, n, n % 3, where + std::to_string(n) + " values"));
        }
      }
    }
  }
};

TEST_P(KernelsTest, SumsAreThoseOfPlainLoopsBitForBit) { CheckAll(SumCases()); }

TEST_P(KernelsTest, StepsAreThoseOfPlainLoopsBitForBit) { CheckAll(StepCases()); }

TEST_P(KernelsTest, ASumOfSquaresHasSixteenLanesAndATree) {
  for (const Kind kind : {Kind::kTame, Kind::kTiny, Kind::kHuge}) {
    for (std::size_t n = 0; n <= 4099; n = n < 70 ? n + 1 : n * 2 + 13) {
      for (std::size_t align = 0; align < kAlignments; ++align) {
        Values x(align + n);
        std::vector<double> lanes(16, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
          x[align + i] = KernelNumber(kind, 1, i);
          const auto value = static_cast<double>(x[align + i]);
          lanes[i % 16] += value * value;
        }
        for (std::size_t half = 8; half > 0; half /= 2)
          for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
        ASSERT_EQ(kernels::SumOfSquares(std::span(x).subspan(align)), lanes[0])
            << n << " values, align " << align;
      }
    }
  }
  EXPECT_EQ(kernels::SumOfSquares(Values{3.0F, -4.0F}), 25.0);
  for (const std::size_t at : {0U, 17U, 32U}) {
    Values x(33, 1.0F);
    x[at] = kKernelInf;
    EXPECT_EQ(kernels::SumOfSquares(x), std::numeric_limits<double>::infinity());
    x[at] = kKernelNan;
    EXPECT_TRUE(std::isnan(kernels::SumOfSquares(x)));
  }
}

TEST_P(KernelsTest, AllFiniteFindsEveryBadValueWhereverItIs) {
  for (const std::size_t n : {1U, 7U, 64U, 1000U, 4099U}) {
    Values x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = KernelNumber(Kind::kTame, 1, i);
    EXPECT_TRUE(kernels::AllFinite(x)) << n;
    for (std::size_t at = 0; at < n; at += 1 + n / 37) {
      for (const float bad : {kKernelNan, -kKernelNan, kKernelInf, -kKernelInf}) {
        const float good = std::exchange(x[at], bad);
        EXPECT_FALSE(kernels::AllFinite(x)) << n << " at " << at;
        x[at] = good;
      }
    }
  }
  EXPECT_TRUE(
      kernels::AllFinite(Values{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(),
                                std::numeric_limits<float>::denorm_min(), -0.0F}));
}

TEST_P(KernelsTest, PieceByPieceGivesTheBitsOfOneCall) {
  constexpr std::size_t kAll = 1003;
  Values acc(kAll), x(kAll), whole(kAll), pieces(kAll);
  for (std::size_t i = 0; i < kAll; ++i) {
    acc[i] = KernelNumber(Kind::kTame, 1, i);
    x[i] = KernelNumber(Kind::kTame, 2, i);
  }
  ASSERT_TRUE(kernels::AddScaledInto(whole, acc, x, 0.37F));
  for (std::size_t at = 0, next = 1; at < kAll; at += next, next = next * 3 % 61) {
    const std::size_t n = std::min(next, kAll - at);
    ASSERT_TRUE(kernels::AddScaledInto(std::span(pieces).subspan(at, n), std::span(acc).subspan(at, n),
                                       std::span(x).subspan(at, n), 0.37F));
  }
  EXPECT_EQ(pieces, whole);
}

INSTANTIATE_TEST_SUITE_P(Targets, KernelsTest, ::testing::ValuesIn(kernels::Targets()),
                         [](const auto& target) { return target.param; });

TEST(KernelTargetTest, TheBestOfTheProcessorsIsTakenUnlessAnotherIsAskedFor) {
  const std::vector<std::string> targets = kernels::Targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(kernels::Target(), targets.front());
  ASSERT_TRUE(kernels::UseTarget(targets.back()));
  EXPECT_EQ(kernels::Target(), targets.back());
  EXPECT_FALSE(kernels::UseTarget("AVX9"));
  ASSERT_TRUE(kernels::UseTarget(""));
  EXPECT_EQ(kernels::Targets(), targets);
}

}  // namespace
}  // namespace leeway
