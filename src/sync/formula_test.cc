#include "sync/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace leeway {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kNames = {"progress", "v_train", "count"};

Result<std::unique_ptr<Formula>> Make(std::string_view text,
                                      const std::vector<PolicyConfig::Constant>& constants = {}) {
  const std::vector<ForeignName> foreign = {{"rand", "which is elsewhere"}};
  return Formula::Make(text, kNames, constants, foreign);
}

// With progress 7, v_train 4, count 2, and the constants s = 3, p = 0.5.
double ValueOf(std::string_view text) {
  const std::vector<PolicyConfig::Constant> constants = {{"s", 3.0}, {"p", 0.5}};
  const auto formula = Make(text, constants);
  EXPECT_TRUE(formula.ok()) << text << ": " << formula.status().ToString();
  if (!formula.ok()) return std::nan("");
  (*formula)->Set(0, 7.0);
  (*formula)->Set(1, 4.0);
  (*formula)->Set(2, 2.0);
  return (*formula)->Value();
}

TEST(FormulaTest, ValuesAreThoseOfC) {
  for (const auto& [text, value] : std::vector<std::pair<const char*, double>>{
           {"progress < v_train + s", 0},
           {"progress<=v_train+s", 1},
           {"progress == 7 && count != 3", 1},
           {"progress > 9 || p > 0.4", 1},
           {"1 + 2 * 3", 7},
           {"(1 + 2) * 3", 9},
           {"2 ^ 3 - -1", 9},
           {"-progress", -7},
           {"-(progress + 1)", -8},
           {"min(progress, v_train, s) + max(1, 2)", 5},
           {"abs(v_train - progress) / 2", 1.5},
           {"exp(0) + sqrt(4) + ln(1) + log2(8) + log10(100)", 8},
           {"1.5e1 + .5 + 2.", 17.5},
           {"(progress < 3) == (v_train < 3)", 1},
           {"0 < count && count < 3", 1},
           {"  count  ", 2},
       }) {
    EXPECT_DOUBLE_EQ(ValueOf(text), value) << text;
  }
}

TEST(FormulaTest, OnlyWhatStandsInItIsUsed) {
  const auto formula = Make("progress < count");
  ASSERT_TRUE(formula.ok());
  EXPECT_TRUE((*formula)->Uses(0));
  EXPECT_FALSE((*formula)->Uses(1));
  EXPECT_TRUE((*formula)->Uses(2));
  EXPECT_EQ((*formula)->text(), "progress < count");
}

TEST(FormulaTest, ADivisionByZeroIsNoFiniteNumber) {
  EXPECT_FALSE(std::isfinite(ValueOf("progress / (count - 2)")));
  EXPECT_FALSE(std::isfinite(ValueOf("sqrt(0 - 1)")));
}

TEST(FormulaTest, WhatIsWrongIsToldWithItsPlaceAndAFix) {
  struct Case {
    const char* text;
    const char* says;
  };
  for (const Case& c : {
           Case{"", "position 1: got its end, wanted a value"},
           Case{"   ", "position 4: got its end, wanted a value"},
           Case{"progress <", "position 11: got its end, wanted a value"},
           Case{"progres < 3",
                "position 1: unknown name \"progres\"; known: progress, v_train, count (did you "
                "mean \"progress\"?)"},
           Case{"progress < zzz", "position 12: unknown name \"zzz\""},
           Case{"progress = 4", "position 10: got '=', wanted == to compare (nothing is assigned here)"},
           Case{"progress < 3, 1",
                "position 13: got ',', wanted an operator: a comma stands between arguments"},
           Case{"(progress, 1)", "position 10: got ','"},
           Case{"!progress", "position 1: got '!', wanted a value (not x is written x == 0)"},
           Case{"not progress", "position 1: got \"not\", wanted == 0"},
           Case{"progress and count", "position 10: got \"and\", wanted &&"},
           Case{"progress or count", "position 10: got \"or\", wanted ||"},
           Case{"progress & count", "position 10: got '&', wanted &&"},
           Case{"progress | count", "position 10: got '|', wanted ||"},
           Case{"progress ! count", "position 10: got '!'"},
           Case{"(progress", "position 10: got its end, wanted ')'"},
           Case{"progress)", "position 9: got ')', wanted an operator or the end"},
           Case{"progress count", "position 10: got \"count\", wanted an operator or the end"},
           Case{"progress 3", "position 10: got '3', wanted an operator or the end"},
           Case{"3progress", "position 2: got 'p', wanted an operator after a number"},
           Case{"3.4.5", "position 4: got '.'"},
           Case{"3e", "position 3: got its end, wanted digits of the exponent"},
           Case{".", "wanted digits"},
           Case{"1 < count < 3", "position 11: got a second comparison, wanted && between two"},
           Case{"count ? 1 : 0", "position 7: got '?', wanted an operator or the end"},
           Case{"- - count", "position 3: got '-', wanted a value"},
           Case{"min", "position 4: got no '(' after min"},
           Case{"min()", "position 5: got ')', wanted a value"},
           Case{"sqrt(1, 2)", "position"},
           Case{"rnd()", "position 1: unknown function \"rnd\"; known: abs"},
           Case{"count(1)", "position 1: unknown function \"count\""},
           Case{"rand > 0.5", "position 1: got rand, which is elsewhere"},
           Case{"count > \"a\"", "position 9: got '\"', wanted a value"},
           Case{"count > \xC3\xA4", "position 9: got byte 0xC3, wanted a value"},
           Case{"count\n> 1", "position 6: got byte 0x0A"},
           Case{"count <> 1", "position 8: got '>', wanted a value"},
           Case{"_pi > 3", "position 1: unknown name \"_pi\""},
           Case{"#101", "position 1: got '#'"},
       }) {
    const auto formula = Make(c.text);
    ASSERT_FALSE(formula.ok()) << c.text;
    EXPECT_THAT(formula.status().message(), HasSubstr(c.says)) << c.text;
  }
}

TEST(FormulaTest, LengthAndDepthAreLimited) {
  EXPECT_TRUE(Make(std::string(32, '(') + "1" + std::string(32, ')')).ok());
  EXPECT_THAT(Make(std::string(33, '(') + "1" + std::string(33, ')')).status().message(),
              HasSubstr("position 33: got more than 32 levels of parentheses"));
  EXPECT_THAT(Make(std::string(kFormulaBytesMax + 1, '1')).status().message(),
              HasSubstr("wanted at most 400"));
}

TEST(FormulaTest, ConstantsNeedANameOfTheirOwn) {
  for (const char* name : {"count", "min", "and", "a-b", "a.b", "3", ""}) {
    const std::vector<PolicyConfig::Constant> constants = {{name, 1.0}};
    EXPECT_THAT(Make("progress", constants).status().message(), HasSubstr("constant")) << name;
  }
  const std::vector<PolicyConfig::Constant> constants = {{"_s2", 5.0}};
  EXPECT_TRUE(Make("progress < _s2", constants).ok());
}

}  // namespace
}  // namespace leeway
