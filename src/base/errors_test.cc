#include "base/errors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leeway {
namespace {

const std::vector<std::string> kModels = {"asp", "bsp", "drop", "dsps", "ssp", "bounded", "partial"};

std::string Suggestion(std::string_view got) { return DidYouMean(got, kModels); }

TEST(DidYouMeanTest, FindsWhatASlipExplains) {
  EXPECT_EQ(Suggestion("bpp"), " (did you mean \"bsp\"?)");          // a wrong letter
  EXPECT_EQ(Suggestion("drp"), " (did you mean \"drop\"?)");         // one missing
  EXPECT_EQ(Suggestion("sspp"), " (did you mean \"ssp\"?)");         // one too many
  EXPECT_EQ(Suggestion("dorp"), " (did you mean \"drop\"?)");        // two swapped
  EXPECT_EQ(Suggestion("BSP"), " (did you mean \"bsp\"?)");          // case
  EXPECT_EQ(Suggestion("buondde"), " (did you mean \"bounded\"?)");  // two slips in a long name
}

TEST(DidYouMeanTest, StaysSilentAboutWhatNoSlipExplains) {
  EXPECT_EQ(Suggestion(""), "");
  EXPECT_EQ(Suggestion("hogwild"), "");
  EXPECT_EQ(Suggestion("abcdefgh"), "");
  EXPECT_EQ(Suggestion(std::string(5000, 's')), "");
  EXPECT_EQ(DidYouMean("x", std::vector<std::string>{"s"}), "");
  EXPECT_EQ(DidYouMean("bsp", {}), "");
}

TEST(DidYouMeanTest, PrefersTheNearestAndThenTheFirst) {
  const std::vector<std::string> known = {"momentun_", "momentum", "nesterov"};
  EXPECT_EQ(DidYouMean("momentun", known), " (did you mean \"momentun_\"?)");
  EXPECT_EQ(DidYouMean("momentu", known), " (did you mean \"momentum\"?)");
}

TEST(ErrorsTest, EachFunctionSetsItsCode) {
  EXPECT_EQ(InvalidArgument("x").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(AlreadyExists("x").code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(Fenced("life {}", 3).code(), StatusCode::kFenced);
  EXPECT_EQ(Fenced("life {}", 3).message(), "life 3");
}

}  // namespace
}  // namespace leeway
