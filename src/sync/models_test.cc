// The conditions of each model, asked about states that are set by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.h"
#include "sync/testing/fake_progress.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

TEST(ModelsTest, PullsOfModelsThatLookAtTheGapAlone) {
  struct Case {
    const char* spec;
    std::int64_t first_later;  // the lowest progress - v_train that waits; 1000: none
  };
  for (const Case& c :
       {Case{"bsp", 0}, Case{"asp", 1000}, Case{"ssp:0", 0}, Case{"ssp:3", 3}, Case{"drop:2", 0},
        Case{"psp:2,5", 0}, Case{"bounded:3", 1000}, Case{"ssptable:0", 0}, Case{"ssptable:4", 4},
        Case{"dsps:2,9,5", 2}, Case{"dssp:2,9", 2}, Case{"when:pull=\"gap < s\",s=3", 3}, Case{"pssp:3,1", 3},
        Case{"pssp:3,0", 1000}, Case{"pssp:3,alpha=0", 1000}}) {
    for (std::int64_t gap = -3; gap < 20; ++gap) {
      for (const std::int64_t v_train : {0, 1, 17}) {
        AskedModel model(c.spec);
        model.v_train = v_train;
        model.coin = 0.5;
        EXPECT_EQ(model.Pull(v_train + gap), gap < c.first_later) << c.spec << " gap " << gap;
      }
    }
  }
}

TEST(ModelsTest, PushesOfModelsThatLookAtTheCountAlone) {
  struct Case {
    const char* spec;
    std::uint32_t members, wanted;  // the lowest count that lets the block go on
  };
  for (const Case& c :
       {Case{"bsp", 4, 4}, Case{"asp", 4, 4}, Case{"ssp:3", 4, 4}, Case{"pssp:3,0.5", 4, 4},
        Case{"dsps:1,3,5", 4, 4}, Case{"dssp:1,3", 4, 4}, Case{"bounded:1", 4, 4}, Case{"ssptable:1", 4, 4},
        Case{"drop:2", 4, 2}, Case{"drop:4", 4, 4}, Case{"drop:9", 4, 4}, Case{"drop:3", 2, 2},
        Case{"psp:2,0", 4, 2}, Case{"psp:9,0", 4, 4}, Case{"psp:3,0", 2, 2},
        Case{"when:push=\"count >= min(n, workers)\",n=3", 4, 3}}) {
    for (std::uint32_t count = 0; count <= c.members; ++count) {
      AskedModel model(c.spec);
      model.progress.count = count;
      model.progress.members = c.members;
      EXPECT_EQ(model.Push(), count >= c.wanted ? "yes" : "no")
          << c.spec << " " << count << " of " << c.members;
    }
  }
}

TEST(ModelsTest, WhatAModelSaysOfItself) {
  struct Case {
    const char* spec;
    std::optional<std::int64_t> lead;
    const char* apply;
    std::uint32_t workers;
    WorkerRule rule;
    const char* pull;
    const char* push;
  };
  for (const Case& c : std::vector<Case>{
           {"drop:3",
            0,
            "aggregate",
            3,
            {.skips_ahead = true},
            "progress < v_train",
            "count >= min(3, members)"},
           {"psp:2,1.5",
            0,
            "aggregate",
            2,
            {.skips_ahead = true},
            "progress < v_train",
            "count >= min(2, members) for 1.5 ms, or count >= members"},
           {"pssp:3,0.5", {}, "immediate", 1, {}, "progress < v_train + 3 or coin > 0.5", "count >= members"},
           {"pssp:3,alpha=0.8",
            {},
            "immediate",
            1,
            {},
            "progress < v_train + 3 or coin > 0.8 / (1 + e^(3 - gap))",
            "count >= members"},
           {"pssp:3,alpha=significance",
            {},
            "immediate",
            1,
            {},
            "progress < v_train + 3 or coin > min(1, significance) / (1 + e^(3 - gap))",
            "count >= members"},
           {"bounded:4", {}, "immediate", 1, {.unsettled_max = 4}, "always", "count >= members"},
           {"ssptable:4",
            4,
            "immediate",
            1,
            {.cache_age_max = 4},
            "progress < v_train + 4; asked when the cache is older",
            "count >= members"},
           {"dsps:1,8,10",
            8,
            "immediate",
            1,
            {},
            "progress < v_train + s, s = t_slowest / t_fastest - 1 within 1 to 8, every 10 iterations",
            "count >= members"},
           {"dssp:1,8",
            8,
            "immediate",
            1,
            {},
            "progress < v_train + 1, or + up to 8 while leave lasts",
            "count >= members"},
           {"when:pull=\"gap < s\",s=3",
            {},
            "immediate",
            1,
            {},
            "gap < s (s = 3)",
            "count >= workers (s = 3)"}}) {
    AskedModel model(c.spec);
    EXPECT_EQ(model->Lead(), c.lead) << c.spec;
    EXPECT_STREQ(model->DefaultApply(), c.apply) << c.spec;
    EXPECT_EQ(model->WorkersNeeded(), c.workers) << c.spec;
    EXPECT_EQ(model->ForWorker(), c.rule) << c.spec;
    EXPECT_EQ(model->PullCondition(), c.pull) << c.spec;
    EXPECT_EQ(model->PushCondition(), c.push) << c.spec;
    EXPECT_FALSE(model->SumsAhead()) << c.spec;
  }
  EXPECT_TRUE(AskedModel("psp:2,0,ahead=sum")->SumsAhead());
}

TEST(PsspTest, TheCoinDecidesFromSOn) {
  AskedModel model("pssp:2,0.3");
  model.v_train = 10;
  for (const auto& [coin, now] :
       std::vector<std::pair<double, bool>>{{1e-9, false}, {0.3, false}, {0.3000001, true}, {1.0, true}}) {
    model.coin = coin;
    EXPECT_TRUE(model.Pull(11)) << coin;
    EXPECT_EQ(model.Pull(12), now) << coin;
    EXPECT_EQ(model.Pull(1000), now) << coin;
  }
}

TEST(PsspTest, UnderAlphaTheProbabilityGrowsWithTheGap) {
  AskedModel model("pssp:2,alpha=0.8");
  for (std::int64_t gap = 0; gap < 30; ++gap) {
    const double p = gap < 2 ? 0.0 : 0.8 / (1.0 + std::exp(2.0 - static_cast<double>(gap)));
    model.coin = p + 1e-9;
    EXPECT_TRUE(model.Pull(gap)) << gap;
    model.coin = p - 1e-9;
    EXPECT_EQ(model.Pull(gap), gap < 2) << gap;
  }
}

TEST(PsspTest, SignificanceIsAlphaAndCountsAsOneAtMost) {
  AskedModel model("pssp:0,alpha=significance");
  struct Case {
    double significance, p;  // at gap 0
  };
  for (const Case& c : {Case{0.0, 0.0}, Case{0.4, 0.2}, Case{1.0, 0.5}, Case{7.0, 0.5},
                        Case{std::nan(""), 0.5}, Case{-1.0, 0.5}}) {
    model.significance = c.significance;
    model.coin = c.p + 1e-9;
    EXPECT_TRUE(model.Pull(0)) << c.significance;
    model.coin = std::max(c.p - 1e-9, 0.0);
    EXPECT_EQ(model.Pull(0), false) << c.significance;
  }
}

TEST(PspTest, TauBeginsWhenTheFirstCAreIn) {
  AskedModel model("psp:2,1");  // 1 ms
  model.v_train = 5;
  model.now_ns = 100;
  model.progress.count = 1;
  EXPECT_EQ(model.Push(), "no");
  model.now_ns = 200;
  model.progress.count = 2;
  EXPECT_EQ(model.Push(), "1000200");
  model.now_ns = 300;
  model.progress.count = 3;
  EXPECT_EQ(model.Push(), "1000200") << "a third contribution changes nothing";
  model.now_ns = 1'000'199;
  EXPECT_EQ(model.Push(), "1000200");
  model.now_ns = 1'000'200;
  EXPECT_EQ(model.Push(), "yes");
}

TEST(PspTest, WithEverybodyInNobodyWaitsForTau) {
  AskedModel model("psp:2,1");
  model.progress.count = 4;
  EXPECT_EQ(model.Push(), "yes");
}

TEST(PspTest, AMembershipChangeDoesNotRestartTau) {
  AskedModel model("psp:2,1");
  model.progress.count = 2;
  EXPECT_EQ(model.Push(), "1000000");
  model.now_ns = 500;
  model.progress.members = 3;
  EXPECT_EQ(model.Push(), "1000000");
  // A contributor that left takes its contribution along only if it gave none here. If the count fell and
  // rose again, the moment would still be the first.
  model.progress.count = 1;
  EXPECT_EQ(model.Push(), "no");
  model.progress.count = 2;
  EXPECT_EQ(model.Push(), "1000000");
}

TEST(PspTest, EveryIterationHasItsOwnMoment) {
  AskedModel model("psp:2,1");
  model.progress.count = 2;
  EXPECT_EQ(model.Push(), "1000000");
  model.v_train = 1;
  model.now_ns = model.advanced_at_ns = 1'000'000;
  EXPECT_EQ(model.Push(), "2000000");
}

TEST(PspTest, TheMomentIsNeverBeforeTheBlockCameHereNorInTheFuture) {
  // Memory of another node's clock, which says nothing here.
  AskedModel model("psp:2,1"), other("psp:2,1");
  model.progress.count = other.progress.count = 2;
  other.now_ns = 7'000'000'000;
  EXPECT_EQ(other.Push(), "7001000000");
  model.memory = other.memory;
  model.now_ns = model.advanced_at_ns = 50;
  EXPECT_EQ(model.Push(), "1000050");
  other.memory.clear();
  other.now_ns = 1;
  EXPECT_EQ(other.Push(), "1000001");
  model.memory = other.memory;
  model.now_ns = model.advanced_at_ns = 9'000'000'000;
  EXPECT_EQ(model.Push(), "9001000000");
}

TEST(PspTest, AheadSumCountsWhatWasTakenSinceTheLastAdvance) {
  AskedModel model("psp:2,0,ahead=sum");
  model.progress.count = 3;  // three are ahead already, with gradients that went into iterations before
  EXPECT_EQ(model.Push(), "no");
  model.progress.taken = 1;
  EXPECT_EQ(model.Push(), "no");
  model.progress.taken = 2;
  EXPECT_EQ(model.Push(), "yes");
  // All are here or ahead: nobody sends more before the block goes on.
  model.progress.taken = 0;
  model.progress.count = 4;
  EXPECT_EQ(model.Push(), "yes");
}

TEST(ModelsTest, GarbageInMemoryIsAsGoodAsNone) {
  std::uint64_t random = 1;
  const auto draw = [&] { return random = Mix64(random); };
  for (const char* spec : {"psp:2,1", "dsps:1,5,3", "dssp:1,5", "pssp:1,0.5", "drop:2"}) {
    for (int round = 0; round < 2000; ++round) {
      AskedModel model(spec), fresh(spec);
      for (AskedModel* m : {&model, &fresh}) {
        m->v_train = 3;
        m->coin = 0.4;
        m->progress.count = 2;
      }
      model.memory.resize(draw() % 40);
      for (char& c : model.memory) c = static_cast<char>(draw());
      const std::string_view letters = "pdg";
      // Without a model's letter the memory must count as empty; with it, as sound.
      const bool lettered = !model.memory.empty() && round % 2 == 0;
      if (lettered) {
        model.memory[0] = letters[draw() % letters.size()];
      } else if (!model.memory.empty()) {
        model.memory[0] = '!';
      }
      for (std::int64_t progress = 0; progress < 12; ++progress) {
        const bool now = model.Pull(progress), anew = fresh.Pull(progress);
        if (!lettered) {
          EXPECT_EQ(now, anew) << spec;
        }
        if (progress < 3) {
          EXPECT_TRUE(now) << spec;
        }
      }
      if (!lettered) {
        EXPECT_EQ(model.Push(), fresh.Push()) << spec;
      }
      EXPECT_LE(model.memory.size(), 64U) << spec;
    }
  }
}

TEST(ModelsTest, WrongArgumentsAreRefusedWithWhatWasGotAndWanted) {
  struct Case {
    const char* spec;
    const char* says;
  };
  for (const Case& c : {
           Case{"drop", "n: got nothing, wanted a whole number from 1"},
           Case{"drop:0", "n: got \"0\""},
           Case{"drop:1,2", "argument \"2\" is one too many"},
           Case{"psp", "c: got nothing"},
           Case{"psp:0,1", "c: got \"0\""},
           Case{"psp:2,-1", "tau_ms: got \"-1\", wanted a number from 0 to"},
           Case{"psp:2,1,ahead=add", "wanted one of: keep, sum"},
           Case{"pssp", "s: got nothing"},
           Case{"pssp:3", "or alpha=0.8 or alpha=significance"},
           Case{"pssp:3,1.5", "c: got \"1.5\", wanted a number from 0 to 1"},
           Case{"pssp:3,alpha=2", "alpha: got \"2\", wanted a number from 0 to 1, or significance"},
           Case{"pssp:3,alpha=nan", "alpha: got \"nan\""},
           Case{"pssp:3,alpha=significanse", "did you mean \"significance\"?"},
           Case{"pssp:3,c=0.5,alpha=0.5", "got both c and alpha"},
           Case{"pssp:3,0.5,alpha=0.5", "one too many"},
           Case{"dsps:1,0,5", "hi: got \"0\", wanted a whole number from 1"},
           Case{"dsps:1,4", "every: got nothing"},
           Case{"dsps:1,4,0", "every: got \"0\""},
           Case{"dssp:3,2", "hi: got \"2\", wanted a whole number from 3 to 259"},
           Case{"dssp:3,260", "hi: got \"260\""},
           Case{"bounded", "d: got nothing"},
           Case{"bounded:-1", "d: got \"-1\""},
           Case{"ssptable:x", "s: got \"x\""},
       }) {
    const auto policy = MakeSyncPolicy(BuiltinSyncModels(), c.spec);
    ASSERT_FALSE(policy.ok()) << c.spec;
    EXPECT_THAT(policy.status().message(), HasSubstr(c.says)) << c.spec;
  }
}

}  // namespace
}  // namespace leeway
