#include "optimizer/make_optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "optimizer/optimizers.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MakeOptimizerTest, AConstraintHoldsAfterEveryRunAndForWhatNoRunHasMade) {
  const OptimizerPtr optimizer = *MakeOptimizer(BuiltinOptimizers(), "momentum+clamp:-0.5,0.25");
  EXPECT_EQ(optimizer->slots(), 1);
  const std::array<float, 3> w{0, 0, 0}, g{1, -1, 0.125F}, buf{0, 0, 0};
  std::array<float, 3> w_out{}, buf_out{};
  const std::span<const float> slots_in[] = {buf};
  const std::span<float> slots_out[] = {buf_out};
  EXPECT_TRUE(optimizer->Step({.w = w, .g = g, .hyper = {.lr = 1.0F}, .slots = slots_in},
                              {.w = w_out, .slots = slots_out}));
  EXPECT_THAT(w_out, ElementsAre(-0.5F, 0.25F, -0.125F));
  EXPECT_THAT(buf_out, ElementsAre(1, -1, 0.125F)) << "its state is not constrained";
  std::vector<float> given{9, -9, 0};
  optimizer->Constrain(given);
  EXPECT_THAT(given, ElementsAre(0.25F, -0.5F, 0));
}

TEST(MakeOptimizerTest, WithoutOneItIsTheRowItself) {
  std::string resolved;
  const OptimizerPtr optimizer = *MakeOptimizer(BuiltinOptimizers(), "lars:0.02", &resolved);
  EXPECT_TRUE(optimizer->whole_table());
  EXPECT_EQ(resolved, "lars:trust=0.02,nesterov=0,excluded=0");
  EXPECT_TRUE((*MakeOptimizer(BuiltinOptimizers(), "lars+clamp:0,1", &resolved))->whole_table());
  EXPECT_THAT(resolved, HasSubstr("+clamp:low=0,high=1"));
}

TEST(MakeOptimizerTest, WrongConstraintsAreErrorsThatNameThem) {
  const auto error = [](const char* spec) {
    return MakeOptimizer(BuiltinOptimizers(), spec).status().message();
  };
  EXPECT_THAT(error("sgd+clam:0,1"), HasSubstr("unknown constraint \"clam\"; known: clamp"));
  EXPECT_THAT(error("sgd+clamp:1,0"), HasSubstr("constraint \"clamp\": high"));
  EXPECT_THAT(error("sgd+clamp:0"), HasSubstr("high"));
  EXPECT_THAT(error("sgd+clamp:0,1,2"), HasSubstr("clamp"));
  EXPECT_THAT(error("clamp:0,1"), HasSubstr("unknown optimizer \"clamp\""));
}

class Wide final : public Optimizer {
 public:
  explicit Wide(int slots) : slots_(slots) {}
  int slots() const override { return slots_; }
  bool Step(const StepInput&, const StepOutput&) const override { return true; }

 private:
  const int slots_;
};

TEST(MakeOptimizerTest, AnOptimizerHasNoMoreArraysThanAMessageCanName) {
  Registry<Optimizer> optimizers("optimizer");
  optimizers.Add("wide", [](const PolicyConfig& config) -> Result<OptimizerPtr> {
    LW_ASSIGN_OR_RETURN(const std::int64_t slots, config.IntInRange("slots", 0, 100));
    return OptimizerPtr(std::make_unique<Wide>(static_cast<int>(slots)));
  });
  EXPECT_TRUE(MakeOptimizer(optimizers, "wide:8").ok());
  const auto made = MakeOptimizer(optimizers, "wide:9");
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("9 arrays of state, wanted 0 to 8"));
}

}  // namespace
}  // namespace leeway
