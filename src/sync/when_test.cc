// Conditions as formulas: what they see, and which are refused when they are set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/spec.h"
#include "sync/testing/fake_progress.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

std::string WhyRefused(const std::string& spec) {
  const auto policy = CheckSyncPolicy(BuiltinSyncModels(), spec);
  return policy.ok() ? "accepted" : policy.status().message();
}

TEST(WhenTest, AFormulaSeesTheState) {
  struct Case {
    const char* pull;
    bool now;
  };
  for (const Case& c : {Case{"v_train == 10", true}, Case{"progress == 12", true}, Case{"gap == 2", true},
                        Case{"workers == 4", true}, Case{"count == 3", true}, Case{"fastest == 15", true},
                        Case{"slowest == 9", true}, Case{"rand > 0.24 && rand < 0.26", true},
                        Case{"significance > 0.05 && significance < 0.3", true}, Case{"s == 7", true},
                        Case{"progress < v_train + 2", false}, Case{"progress < v_train + 3", true}}) {
    AskedModel model(std::string("when:pull=\"") + c.pull + "\",s=7");
    model.v_train = 10;
    model.progress.count = 3;
    model.progress.fastest = 15;
    model.progress.slowest = 9;
    model.coin = 0.25;
    model.significance = 0.2;
    EXPECT_EQ(model.Pull(12), c.now) << c.pull;
  }
}

TEST(WhenTest, APushConditionSeesTheStateOfTheBlock) {
  AskedModel model("when:push=\"count >= n || (v_train < 5 && fastest - slowest > 3 && workers == 4)\",n=2");
  model.v_train = 4;
  model.progress.count = 1;
  model.progress.fastest = 8;
  model.progress.slowest = 4;
  EXPECT_EQ(model.Push(), "yes");
  model.v_train = 5;
  EXPECT_EQ(model.Push(), "no");
  model.progress.count = 2;
  EXPECT_EQ(model.Push(), "yes");
  EXPECT_FALSE(model.Pull(5)) << "without one the pull condition is bsp's";
  EXPECT_TRUE(model.Pull(4));
}

TEST(WhenTest, WrittenAsFormulasTheModelsSayTheSame) {
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {"bsp", "when:pull=\"progress < v_train\""},
      {"asp", "when:pull=\"1\",push=\"count >= workers\""},
      {"ssp:3", "when:pull=\"progress < v_train + s\",s=3"},
      {"pssp:3,0.5", "when:pull=\"gap < s || rand > c\",s=3,c=0.5"},
      {"pssp:3,alpha=0.8", "when:pull=\"gap < s || rand > a / (1 + exp(s - gap))\",s=3,a=0.8"},
      {"drop:3", "when:push=\"count >= min(3, workers)\""},
  };
  std::uint64_t random = 3;
  for (const auto& [name, formula] : pairs) {
    AskedModel model(name), when(formula);
    for (int i = 0; i < 5000; ++i) {
      random = Mix64(random);
      for (AskedModel* m : {&model, &when}) {
        m->v_train = static_cast<std::int64_t>(random % 50);
        m->progress.members = 1 + static_cast<std::uint32_t>(random >> 8) % 6;
        m->progress.count = static_cast<std::uint32_t>(random >> 16) % (m->progress.members + 1);
        m->coin = UnitInterval(Mix64(random));
      }
      const std::int64_t progress = model.v_train - 2 + static_cast<std::int64_t>((random >> 32) % 12);
      EXPECT_EQ(model.Pull(progress), when.Pull(progress)) << name;
      EXPECT_EQ(model.Push(), when.Push()) << name;
    }
  }
}

TEST(WhenTest, WrongFormulasAreRefusedWithPlaceAndSuggestion) {
  EXPECT_EQ(
      WhyRefused("when:pull=\"progres < 3\""),
      "sync model \"when\": pull \"progres < 3\": position 1: unknown name \"progres\"; known: v_train, "
      "workers, count, fastest, slowest, progress, gap, significance, rand (did you mean \"progress\"?)");
  EXPECT_THAT(WhyRefused("when:push=\"count >= worker\""), HasSubstr("did you mean \"workers\"?"));
  EXPECT_THAT(WhyRefused("when:push=\"rand > 0.5\""),
              HasSubstr("position 1: got rand, which is the coin of a pull"));
  EXPECT_THAT(WhyRefused("when:push=\"progress > 3\""), HasSubstr("belongs to a pull"));
  EXPECT_THAT(WhyRefused("when:pull=\"progress = 3\""), HasSubstr("wanted == to compare"));
  EXPECT_THAT(WhyRefused("when"), HasSubstr("got neither pull nor push"));
  EXPECT_THAT(WhyRefused("when:release=soft"), HasSubstr("got neither pull nor push"));
  EXPECT_THAT(WhyRefused("when:\"progress < 3\""), HasSubstr("got neither pull nor push"));
  EXPECT_THAT(WhyRefused("when:pull=\"gap < s\""), HasSubstr("unknown name \"s\""));
  EXPECT_THAT(WhyRefused("when:pull=\"gap < s\",s=x"), HasSubstr("s: got \"x\", wanted a finite number"));
  EXPECT_THAT(WhyRefused("when:pull=\"gap < 3\",count=x"), HasSubstr("count"));
  EXPECT_THAT(WhyRefused("when:pull=\"gap < 3\",count=3"), HasSubstr("it is a name of the state already"));
  EXPECT_THAT(WhyRefused("when:pull=\"gap < 3\",pussh=\"count >= 3\""), HasSubstr("did you mean \"push\"?"));
  EXPECT_THAT(WhyRefused("when:pull=\"gap < s\",s=1,s=2"), HasSubstr("got it twice"));
  EXPECT_THAT(WhyRefused("when:pull=\"gap < 1\",relase=1,release=sofd"), HasSubstr("did you mean \"soft\"?"));
}

TEST(WhenTest, AConditionThatLetsNobodyPassIsRefused) {
  for (const char* pull : {"0", "progress < v_train - 5", "gap > 1000000", "workers < 0", "rand > 1",
                           "count > workers", "slowest > fastest"}) {
    EXPECT_THAT(WhyRefused(std::string("when:pull=\"") + pull + "\""),
                HasSubstr("wanted one that lets somebody pass"))
        << pull;
  }
  for (const char* push : {"0", "count > workers", "count < workers", "fastest < v_train", "v_train < 0"}) {
    EXPECT_THAT(WhyRefused(std::string("when:push=\"") + push + "\""),
                HasSubstr("wanted one that lets the block go on"))
        << push;
  }
}

TEST(WhenTest, AConditionThatLetsSomebodyPassSomewhereIsTaken) {
  for (const char* pull : {"1", "progress < v_train", "gap < 0", "rand > 0.99", "v_train > 100000",
                           "workers > 1000", "significance > 5", "significance < 0.0001", "count == workers",
                           "fastest - progress > 50", "slowest - v_train < 0"}) {
    EXPECT_EQ(WhyRefused(std::string("when:pull=\"") + pull + "\""), "accepted") << pull;
  }
  for (const char* push : {"1", "count >= min(4, workers)", "count >= workers / 2", "fastest >= v_train"}) {
    EXPECT_EQ(WhyRefused(std::string("when:push=\"") + push + "\""), "accepted") << push;
  }
}

TEST(WhenTest, ConditionsThatStopTheJobTogetherAreRefused) {
  EXPECT_EQ(
      WhyRefused("when:push=\"fastest > v_train + 3\""),
      "sync model \"when\": push \"fastest > v_train + 3\": got a condition that is false when all workers "
      "(1024) have sent iteration 0 and wait there (v_train is 0, and pull \"progress < v_train\" lets "
      "nobody go on), wanted one that is true then, or the job stops: append || count >= workers");
  struct Case {
    const char* pull;
    const char* push;
    bool stops;
  };
  for (const Case& c :
       {Case{"gap < 4", "fastest > v_train + 3", false},  // they come to gap 4, and it goes on
        Case{"gap < 3", "fastest > v_train + 3", true},
        Case{"gap < 3", "fastest > v_train + 3 || count >= workers", false},
        Case{"gap < 3", "fastest == v_train + 2", false},
        Case{"gap < 3 || rand > 0.9", "fastest > v_train + 50", false},  // by luck they do
        Case{"gap < 3 || significance > 5", "fastest > v_train + 50", false},
        Case{"progress < v_train", "count >= 4", true},  // three survivors
        Case{"1", "count >= 4", false},                  // nobody waits
        Case{"progress < v_train", "v_train < 5000", true}, Case{"workers < 60", "workers < 60", true}}) {
    const std::string why = WhyRefused(std::string("when:pull=\"") + c.pull + "\",push=\"" + c.push + "\"");
    if (c.stops) {
      EXPECT_THAT(why, HasSubstr("append || count >= workers")) << c.pull << ", " << c.push;
    } else {
      EXPECT_EQ(why, "accepted") << c.pull << ", " << c.push;
    }
  }
}

TEST(WhenTest, OnlyThoseWhoSetASpecTryIt) {
  const char* const stops = "when:pull=\"0\",push=\"0\"";
  EXPECT_TRUE(MakeSyncPolicy(BuiltinSyncModels(), stops).ok());
  EXPECT_FALSE(CheckSyncPolicy(BuiltinSyncModels(), stops).ok());
}

TEST(WhenTest, AValueThatIsNoNumberIsRefusedWhereTheGridMeetsItAndNoElsewhere) {
  EXPECT_THAT(WhyRefused("when:pull=\"workers / count\""), HasSubstr("no finite number"));
  EXPECT_THAT(WhyRefused("when:push=\"ln(slowest - v_train)\""), HasSubstr("no finite number"));
  // 77 is not on the grid.
  AskedModel model("when:pull=\"1 / (v_train - 77)\",push=\"1 / (v_train - 77)\"");
  model.v_train = 77;
  EXPECT_FALSE(model.Pull(3));
  EXPECT_EQ(model.Push(), "no");
  model.v_train = 78;
  EXPECT_TRUE(model.Pull(3));
  EXPECT_EQ(model.Push(), "yes");
}

TEST(WhenTest, TheResolvedSpecSaysTheSame) {
  const auto policy = MakeSyncPolicy(
      BuiltinSyncModels(), "when:pull=\"progress < v_train + s || rand > p\",s=3,p=0.5,release=soft");
  ASSERT_TRUE(policy.ok()) << policy.status().ToString();
  const std::string text = PrintSpec({{policy->resolved}});
  const auto again = MakeSyncPolicy(BuiltinSyncModels(),
                                    "when:pull=\"progress < v_train + s || rand > p\","
                                    "push=\"count >= workers\",s=3,p=0.5,release=soft");
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->resolved, policy->resolved);
  EXPECT_THAT(text,
              HasSubstr("pull=\"progress < v_train + s || rand > p\",push=\"count >= workers\",s=3,p=0.5"));
}

}  // namespace
}  // namespace leeway
