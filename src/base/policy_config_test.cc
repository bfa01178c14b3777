#include "base/policy_config.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace leeway {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

PolicyConfig ConfigOf(std::string_view text) {
  Result<Spec> spec = ParseSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.status().ToString();
  return {"sync model", spec->terms.at(0)};
}

TEST(PolicyConfigTest, TheOrderOfAskingIsTheOrderOfPositions) {
  const PolicyConfig config = ConfigOf("dsps:1,4,10");
  EXPECT_EQ(*config.IntInRange("lo", 0, 100), 1);
  EXPECT_EQ(*config.IntInRange("hi", 0, 100), 4);
  EXPECT_EQ(*config.IntInRange("every", 0, 100), 10);
  EXPECT_TRUE(config.Finish().ok());
}

TEST(PolicyConfigTest, AKeyedArgumentKeepsItsPlace) {
  // 4 is the first positional argument and so lo's place; hi came by key, every has nothing left.
  const PolicyConfig config = ConfigOf("dsps:hi=7,4");
  EXPECT_EQ(*config.IntInRange("lo", 0, 100), 4);
  EXPECT_EQ(*config.IntInRange("hi", 0, 100), 7);
  EXPECT_EQ(*config.IntInRange("every", 0, 100, 10), 10);
  EXPECT_TRUE(config.Finish().ok());
}

TEST(PolicyConfigTest, AnArgumentGivenByPositionAndByKeyIsRefused) {
  const PolicyConfig config = ConfigOf("ssp:3,s=4");
  EXPECT_EQ(*config.IntInRange("s", 0, 100), 4);
  EXPECT_EQ(config.Finish().message(),
            "sync model \"ssp\": argument \"3\" is one too many; without a key it takes 1 (s), and s came by "
            "key too");
}

TEST(PolicyConfigTest, AnArgumentGivenTwiceIsRefused) {
  const PolicyConfig config = ConfigOf("ssp:s=3,s=4");
  EXPECT_EQ(*config.IntInRange("s", 0, 100), 3);
  EXPECT_EQ(config.Finish().message(), "sync model \"ssp\": s: got it twice, wanted it once");
}

TEST(PolicyConfigTest, AskingAgainGivesTheSame) {
  const PolicyConfig config = ConfigOf("x:5,6");
  EXPECT_EQ(*config.IntInRange("a", 0, 100), 5);
  EXPECT_EQ(*config.IntInRange("a", 0, 100), 5);
  EXPECT_EQ(*config.IntInRange("b", 0, 100), 6);
  EXPECT_TRUE(config.Finish().ok());
}

TEST(PolicyConfigTest, AbsentArgumentsAreTheDefaultOrAnError) {
  const PolicyConfig config = ConfigOf("ssp");
  EXPECT_EQ(*config.IntInRange("s", 0, 9, 3), 3);
  EXPECT_EQ(config.IntInRange("t", 0, 9).status().message(),
            "sync model \"ssp\": t: got nothing, wanted a whole number from 0 to 9");
  EXPECT_EQ(config.DoubleInRange("c", 0, 1).status().message(),
            "sync model \"ssp\": c: got nothing, wanted a number from 0 to 1");
  EXPECT_EQ(config.OneOf("r", {"x", "y"}).status().message(),
            "sync model \"ssp\": r: got nothing, wanted one of: x, y");
  EXPECT_EQ(*config.OneOf("r", {"x", "y"}, "y"), "y");
  EXPECT_EQ(*config.KeyedOneOf("release", {"lazy", "soft"}, "lazy"), "lazy");
  EXPECT_EQ(*config.KeyedIntInRange("window", 1, 9, 2), 2);
  EXPECT_TRUE(config.Finish().ok());
}

TEST(PolicyConfigTest, KeyOnlyArgumentsTakeNoPosition) {
  const PolicyConfig config = ConfigOf("ssp:3,release=soft,window=4");
  EXPECT_EQ(*config.KeyedOneOf("release", {"lazy", "soft"}, "lazy"), "soft");
  EXPECT_EQ(*config.KeyedIntInRange("window", 1, 9, 2), 4);
  EXPECT_EQ(*config.IntInRange("s", 0, 100), 3);
  EXPECT_TRUE(config.Finish().ok());

  const PolicyConfig positional = ConfigOf("bsp:soft");
  EXPECT_EQ(*positional.KeyedOneOf("release", {"lazy", "soft"}, "lazy"), "lazy");
  EXPECT_EQ(positional.Finish().message(),
            "sync model \"bsp\": argument \"soft\" is one too many; without a key it takes 0");
}

TEST(PolicyConfigTest, WholeNumbersAreParsedStrictly) {
  for (const char* bad : {"x", "3x", "\" 3\"", "\"3 \"", "\"+3\"", "3.0", "3e1", "0x10", "--3", "-", "\"\"",
                          "nan", "9223372036854775808", "99999999999999999999"}) {
    const PolicyConfig config = ConfigOf(std::string("ssp:") + bad);
    EXPECT_FALSE(config
                     .IntInRange("s", std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max())
                     .ok())
        << bad;
  }
  EXPECT_EQ(
      *ConfigOf("ssp:-9223372036854775808").IntInRange("s", std::numeric_limits<std::int64_t>::min(), 0),
      std::numeric_limits<std::int64_t>::min());
}

TEST(PolicyConfigTest, BoundsAreInclusiveAndErrorsNameThem) {
  EXPECT_EQ(*ConfigOf("ssp:0").IntInRange("s", 0, 5), 0);
  EXPECT_EQ(*ConfigOf("ssp:5").IntInRange("s", 0, 5), 5);
  EXPECT_EQ(ConfigOf("ssp:s=6").IntInRange("s", 0, 5).status().message(),
            "sync model \"ssp\": s: got \"6\", wanted a whole number from 0 to 5");
  EXPECT_EQ(ConfigOf("ssp:s=-1").KeyedIntInRange("s", 0, 5, 1).status().message(),
            "sync model \"ssp\": s: got \"-1\", wanted a whole number from 0 to 5");
  EXPECT_EQ(*ConfigOf("p:0.5").DoubleInRange("c", 0.5, 1), 0.5);
  EXPECT_EQ(*ConfigOf("p:1e-3").DoubleInRange("c", 0, 1), 1e-3);
  EXPECT_EQ(ConfigOf("p:1.01").DoubleInRange("c", 0, 1).status().message(),
            "sync model \"p\": c: got \"1.01\", wanted a number from 0 to 1");
  EXPECT_EQ(ConfigOf("p:-1").DoubleInRange("c", 0, kInfinity).status().message(),
            "sync model \"p\": c: got \"-1\", wanted a number of at least 0");
}

TEST(PolicyConfigTest, NumbersThatAreNoneAreRefused) {
  for (const char* bad : {"nan", "inf", "-inf", "infinity", "1e999", "0.5x", "\"0,5\"", "\".5 \"", "\"+1\"",
                          "0x1p3", "1e", "."}) {
    const PolicyConfig config = ConfigOf(std::string("p:") + bad);
    EXPECT_FALSE(config.DoubleInRange("c", -kInfinity, kInfinity).ok()) << bad;
  }
}

TEST(PolicyConfigTest, UnknownWordsComeWithASuggestion) {
  EXPECT_EQ(ConfigOf("ssp:release=sofd").KeyedOneOf("release", {"lazy", "soft"}, "lazy").status().message(),
            "sync model \"ssp\": release: got \"sofd\", wanted one of: lazy, soft (did you mean \"soft\"?)");

  const PolicyConfig config = ConfigOf("ssp:3,relaese=soft");
  EXPECT_TRUE(config.IntInRange("s", 0, 9).ok());
  EXPECT_TRUE(config.KeyedOneOf("release", {"lazy", "soft"}, "lazy").ok());
  EXPECT_EQ(
      config.Finish().message(),
      "sync model \"ssp\": unknown argument \"relaese\"; known: s, release (did you mean \"release\"?)");

  EXPECT_EQ(ConfigOf("asp:q=1").Finish().message(),
            "sync model \"asp\": unknown argument \"q\"; known: none");
}

TEST(PolicyConfigTest, OneArgumentTooManyIsRefused) {
  const PolicyConfig config = ConfigOf("ssp:3,4");
  EXPECT_TRUE(config.IntInRange("s", 0, 9).ok());
  EXPECT_EQ(config.Finish().message(),
            "sync model \"ssp\": argument \"4\" is one too many; without a key it takes 1 (s)");
}

TEST(PolicyConfigTest, ParenthesesThatNobodyLooksIntoAreRefused) {
  EXPECT_EQ(ConfigOf("bsp(asp)").Finish().message(),
            "sync model \"bsp\": got terms in parentheses, wanted none");
  const PolicyConfig wrapper = ConfigOf("ef(topk:0.01)");
  ASSERT_EQ(wrapper.inner().size(), 1U);
  EXPECT_EQ(wrapper.inner()[0].name, "topk");
  EXPECT_TRUE(wrapper.Finish().ok());
}

TEST(PolicyConfigTest, ASpecOfOneTermIsTakenApart) {
  const Result<PolicyConfig> config = PolicyConfig::OfOneTerm("pull policy", "partial:0.9");
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->name(), "partial");
  EXPECT_EQ(*config->DoubleInRange("b", 0, 1), 0.9);
  EXPECT_EQ(PolicyConfig::OfOneTerm("pull policy", "full+full").status().message(),
            "pull policy \"full+full\": got 2 terms, wanted one");
  EXPECT_FALSE(PolicyConfig::OfOneTerm("pull policy", "").ok());
  EXPECT_EQ(ConfigOf("bpp").UnknownName({"asp", "bsp"}).message(),
            "unknown sync model \"bpp\"; known: asp, bsp (did you mean \"bsp\"?)");
}

TEST(PolicyConfigTest, TextIsTakenAsItIs) {
  const PolicyConfig config = ConfigOf("when:pull=\"a \\\"b\\\" < 3\",release=soft");
  EXPECT_EQ(*config.KeyedText("pull", "a formula"), "a \"b\" < 3");
  EXPECT_EQ(config.KeyedText("push", "a formula").status().message(),
            "sync model \"when\": push: got nothing, wanted a formula");
  EXPECT_EQ(*config.KeyedText("push", "a formula", "count >= workers"), "count >= workers");
  EXPECT_TRUE(config.HasKey("release"));
  EXPECT_FALSE(config.HasKey("push"));
  const SpecTerm wanted{"when", {{"pull", "a \"b\" < 3"}, {"push", "count >= workers"}}, {}};
  EXPECT_EQ(config.resolved(), wanted);
}

TEST(PolicyConfigTest, TextMayComeByPositionToo) {
  const PolicyConfig config = ConfigOf("ghost:some/where.layers,7");
  EXPECT_EQ(*config.Text("model", "a model"), "some/where.layers");
  EXPECT_EQ(*config.IntInRange("grain", 1, 9), 7);
  EXPECT_EQ(config.Text("more", "some more").status().message(),
            "sync model \"ghost\": more: got nothing, wanted some more");
  EXPECT_EQ(*config.Text("more", "some more", "none"), "none");
  EXPECT_TRUE(config.Finish().ok());
}

TEST(PolicyConfigTest, ConstantsOfTheUserAreWhatIsLeft) {
  const PolicyConfig config = ConfigOf("when:pull=x,s=3,release=soft,p=0.25");
  EXPECT_TRUE(config.KeyedText("pull", "a formula").ok());
  const auto constants = config.OtherConstants({"release", "late"});
  ASSERT_TRUE(constants.ok()) << constants.status().ToString();
  ASSERT_EQ(constants->size(), 2U);
  EXPECT_EQ((*constants)[0].name, "s");
  EXPECT_EQ((*constants)[0].value, 3.0);
  EXPECT_EQ((*constants)[1].name, "p");
  EXPECT_EQ((*constants)[1].value, 0.25);
  EXPECT_TRUE(config.KeyedOneOf("release", {"lazy", "soft"}, "lazy").ok());
  EXPECT_TRUE(config.Finish().ok());
  const SpecTerm wanted{"when", {{"pull", "x"}, {"s", "3"}, {"p", "0.25"}, {"release", "soft"}}, {}};
  EXPECT_EQ(config.resolved(), wanted);
}

TEST(PolicyConfigTest, AConstantThatIsNoNumberIsRefusedAndTwiceTheSameToo) {
  EXPECT_EQ(ConfigOf("when:relase=soft").OtherConstants({"release"}).status().message(),
            "sync model \"when\": relase: got \"soft\", wanted a finite number (did you mean \"release\"?)");
  EXPECT_FALSE(ConfigOf("when:s=nan").OtherConstants({}).ok());
  const PolicyConfig twice = ConfigOf("when:s=1,s=2");
  const auto once = twice.OtherConstants({});
  ASSERT_TRUE(once.ok()) << once.status().ToString();
  EXPECT_EQ(once->size(), 1U);
  EXPECT_EQ(twice.Finish().message(), "sync model \"when\": s: got it twice, wanted it once");
}

}  // namespace
}  // namespace leeway
