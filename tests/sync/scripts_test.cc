// Each model on one block: pushes, pulls, joins and deaths by hand, and each word checked against its
// conditions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <sstream>

#include "base/hash.h"
#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAreArray;

// "push 0 3": worker 0, iteration 3; so absent. "pull 0 3": worker 0 with progress 3. "join 3", "die 2". "at
// 50": the time in ns, and the timer fires.
struct Step {
  const char* event;
  std::vector<std::string> heard;  // without versions
};

class Script {
 public:
  Script(const char* sync, const char* apply, std::uint32_t workers)
      : name_(sync), block_({.sync = sync, .apply = apply}) {
    block_.Begin(workers);
  }
  Script& Play(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      Do(step.event);
      EXPECT_THAT(Heard(), ElementsAreArray(step.heard)) << name_ << ": after \"" << step.event << "\"";
    }
    return *this;
  }

 private:
  void Do(const std::string& event) {
    std::istringstream words(event);
    std::string what;
    std::int64_t number = 0, iteration = 0;
    words >> what >> number;
    const auto worker = static_cast<std::uint32_t>(number);
    words >> iteration;
    if (what == "push") return block_.Push(worker, iteration);
    if (what == "absent") return block_.Absent(worker, iteration);
    if (what == "pull") return block_.Pull(worker, iteration);
    if (what == "join") return block_.Join(worker, 0).Roster();
    if (what == "die") return block_.Leave(worker).Roster();
    ASSERT_EQ(what, "at") << event;
    block_.now_ns = number;
    block_->OnTimer(block_.Now());
  }
  std::vector<std::string> Heard() {
    std::vector<std::string> lines = block_.Heard();
    for (std::string& line : lines) {
      if (const std::size_t at = line.find(" r"); at != std::string::npos) line.resize(at);
    }
    return lines;
  }

  const std::string name_;
  HandFedBlock block_;
};

TEST(ScriptsTest, BspWaitsForEveryMemberAndForNobodyElse) {
  Script("bsp", "", 3)
      .Play({
          {"push 0 0", {"SUMMED 0#1 v0"}},
          {"pull 0 0", {}},
          {"push 1 0", {"SUMMED 1#1 v0"}},
          {"push 2 0", {"SUMMED 2#1 v1", "ANSWER 0 p0 v1"}},
          {"pull 1 0", {"ANSWER 1 p0 v1"}},
          {"join 3", {}},  // counts from iteration 2 on
          {"push 0 1", {"SUMMED 0#2 v1"}},
          {"pull 0 1", {}},
          {"absent 1 1", {"ABSENT 1#2 v1"}},
          {"push 2 1", {"SUMMED 2#2 v2", "ANSWER 0 p1 v2"}},
          {"push 0 2", {"SUMMED 0#3 v2"}},
          {"push 1 2", {"SUMMED 1#3 v2"}},
          {"push 2 2", {"SUMMED 2#3 v2"}},
          {"pull 0 2", {}},
          {"die 3", {"ANSWER 0 p2 v3"}},
          {"push 0 3", {"SUMMED 0#4 v3"}},
          {"die 1", {}},
          {"pull 0 3", {}},
          {"die 2", {"ANSWER 0 p3 v4"}},
      });
}

TEST(ScriptsTest, AspAnswersEverybodyAtOnceAndCountsAllTheSame) {
  for (const char* sync : {"asp", "bounded:2", "pssp:1,0"}) {
    Script(sync, "", 2)
        .Play({
            {"push 0 0", {"APPLIED 0#1 v0"}},
            {"pull 0 0", {"ANSWER 0 p0 v0"}},
            {"push 0 1", {"APPLIED 0#2 v0"}},
            {"push 0 2", {"APPLIED 0#3 v0"}},
            {"pull 0 2", {"ANSWER 0 p2 v0"}},
            {"push 1 0", {"APPLIED 1#1 v1"}},
            {"join 2", {}},
            {"push 1 1", {"APPLIED 1#2 v2"}},
            {"pull 1 1", {"ANSWER 1 p1 v2"}},
            {"die 1", {}},
            {"pull 2 1", {"ANSWER 2 p1 v2"}},
            {"push 0 3", {"APPLIED 0#4 v2"}},
            {"push 2 2", {"APPLIED 2#1 v3"}},
            {"die 2", {}},
            {"pull 0 3", {"ANSWER 0 p3 v4"}},
        });
  }
}

TEST(ScriptsTest, SspLetsAWorkerRunSAhead) {
  for (const char* sync :
       {"ssp:1", "ssptable:1", "pssp:1,1", "dsps:1,1,1", "dssp:1,1", "when:pull=\"gap < 1\""}) {
    Script(sync, "", 2)
        .Play({
            {"push 0 0", {"APPLIED 0#1 v0"}},
            {"pull 0 0", {"ANSWER 0 p0 v0"}},
            {"push 0 1", {"APPLIED 0#2 v0"}},
            {"pull 0 1", {}},
            {"push 1 0", {"APPLIED 1#1 v1"}},  // lazy: not before v_train passes 1
            {"pull 1 0", {"ANSWER 1 p0 v1"}},
            {"push 1 1", {"APPLIED 1#2 v2", "ANSWER 0 p1 v2"}},
            {"join 2", {}},  // counts from iteration 3 on
            {"push 0 2", {"APPLIED 0#3 v2"}},
            {"pull 0 2", {"ANSWER 0 p2 v2"}},
            {"push 0 3", {"APPLIED 0#4 v2"}},
            {"pull 0 3", {}},
            {"die 1", {}},  // iteration 2 is over without it; 3 lacks worker 2
            {"die 2", {"ANSWER 0 p3 v4"}},
        });
  }
}

TEST(ScriptsTest, SoftReleaseAnswersAtTheNextAdvance) {
  for (const char* sync :
       {"bsp:release=soft", "ssp:1,release=soft", "pssp:1,1,release=soft", "ssptable:1,release=soft",
        "dssp:1,1,release=soft", "dsps:1,1,1,release=soft", "when:pull=\"gap < s\",s=1,release=soft"}) {
    Script(sync, "immediate", 2)
        .Play({
            {"push 0 0", {"APPLIED 0#1 v0"}},
            {"push 0 1", {"APPLIED 0#2 v0"}},
            {"push 0 2", {"APPLIED 0#3 v0"}},
            {"pull 0 2", {}},
            {"push 1 0", {"APPLIED 1#1 v1", "ANSWER 0 p2 v1"}},
        });
  }
  for (const char* sync : {"drop:2,release=soft", "psp:2,0,release=soft"}) {
    Script(sync, "immediate", 3)
        .Play({
            {"push 0 0", {"APPLIED 0#1 v0"}},
            {"push 0 1", {"APPLIED 0#2 v0"}},
            {"pull 0 1", {}},
            {"push 1 0", {"APPLIED 1#1 v1", "ANSWER 0 p1 v1"}},
        });
  }
}

TEST(ScriptsTest, DropGoesOnWithTheFirstFewAndWithFewerWhenFewerAreLeft) {
  Script("drop:2", "", 3)
      .Play({
          {"push 0 0", {"SUMMED 0#1 v0"}},
          {"pull 0 0", {}},
          {"push 1 0", {"SUMMED 1#1 v1", "ANSWER 0 p0 v1"}},
          {"pull 1 0", {"ANSWER 1 p0 v1"}},
          {"push 2 0", {"LATE_DROPPED 2#1 v1"}},
          {"pull 2 0", {"ANSWER 2 p0 v1"}},
          {"push 2 1", {"SUMMED 2#2 v1"}},  // it has caught up
          {"pull 2 1", {}},
          {"die 0", {}},
          {"die 1", {"ANSWER 2 p1 v2"}},
          {"push 2 2", {"SUMMED 2#3 v3"}},
          {"join 3", {}},  // counts from iteration 4 on
          {"push 2 3", {"SUMMED 2#4 v4"}},
          {"push 2 4", {"SUMMED 2#5 v4"}},
          {"pull 2 4", {}},
          {"push 3 4", {"SUMMED 3#1 v5", "ANSWER 2 p4 v5"}},
      });
  Script("drop:2,late=apply", "", 3)
      .Play({
          {"push 0 0", {"SUMMED 0#1 v0"}},
          {"push 1 0", {"SUMMED 1#1 v1"}},
          {"push 2 0", {"SUMMED 2#1 v1"}},  // into iteration 1, where it counts in d and not in count
          {"push 0 1", {"SUMMED 0#2 v1"}},
          {"push 1 1", {"SUMMED 1#2 v2"}},
      });
}

TEST(ScriptsTest, PspWaitsForTauAfterTheFirstFew) {
  Script("psp:2,0.00005", "", 3)
      .Play({
          {"push 0 0", {"SUMMED 0#1 v0"}},
          {"pull 0 0", {}},
          {"at 10", {}},
          {"push 1 0", {"WAKE 60", "SUMMED 1#1 v0"}},
          {"at 40", {"WAKE 60"}},
          {"join 3", {}},  // counts from iteration 1 on, and does not restart it
          {"at 59", {"WAKE 60"}},
          {"at 60", {"ANSWER 0 p0 v1"}},
          {"push 2 0", {"LATE_DROPPED 2#1 v1"}},
          {"pull 2 0", {"ANSWER 2 p0 v1"}},
          {"push 0 1", {"SUMMED 0#2 v1"}},
          {"push 1 1", {"WAKE 110", "SUMMED 1#2 v1"}},
          {"pull 1 1", {}},
          {"push 2 1", {"SUMMED 2#2 v1"}},
          {"push 3 1", {"SUMMED 3#1 v2", "ANSWER 1 p1 v2"}},  // all are in: nobody waits for tau
          {"at 110", {}},
          {"push 0 2", {"SUMMED 0#3 v2"}},
          {"pull 0 2", {}},
          {"die 1", {}},
          {"die 2", {}},
          {"die 3", {"ANSWER 0 p2 v3"}},
      });
}

TEST(ScriptsTest, PspThatSumsAheadCountsWhatCameWhateverItsIteration) {
  Script("psp:2,0.00005,ahead=sum", "", 3)
      .Play({
          {"push 0 0", {"SUMMED 0#1 v0"}},
          {"push 0 1", {"WAKE 50", "SUMMED 0#2 v0"}},  // the second since the block began: c is met
          {"pull 0 1", {}},
          {"at 50", {}},
          {"push 1 0", {"LATE_DROPPED 1#1 v1"}},
          {"push 1 1", {"SUMMED 1#2 v1"}},                    // two have sent 1, but one since the advance
          {"push 2 1", {"SUMMED 2#1 v2", "ANSWER 0 p1 v2"}},  // all have
          {"push 0 3", {"SUMMED 0#3 v2"}},
          {"push 1 2", {"WAKE 100", "SUMMED 1#3 v2"}},
          {"push 2 2", {"SUMMED 2#2 v3"}},  // as many as there are members
          {"pull 0 3", {}},
          {"die 1", {}},
          {"die 2", {"ANSWER 0 p3 v4"}},
      });
}

TEST(ScriptsTest, PspMeetsCNoEarlierThanTheBlockIsThere) {
  // Workers 0 and 1 have sent iteration 1 before the block is there; tau begins with the advance.
  Script("psp:2,0.00005", "", 3)
      .Play({
          {"push 0 0", {"SUMMED 0#1 v0"}},
          {"push 0 1", {"SUMMED 0#2 v0"}},
          {"push 1 0", {"WAKE 50", "SUMMED 1#1 v0"}},
          {"push 1 1", {"SUMMED 1#2 v0"}},
          {"at 50", {"WAKE 100"}},
          {"pull 0 0", {"ANSWER 0 p0 v1"}},
          {"at 100", {}},
          {"pull 1 1", {"ANSWER 1 p1 v2"}},
      });
}

TEST(ScriptsTest, DspsFollowsThePaceOfTheSlowest) {
  // Worker 0 takes 10 ns, worker 1 takes 30: s = 30 / 10 - 1.
  Script("dsps:1,4,1", "", 2)
      .Play({
          {"push 0 0", {"APPLIED 0#1 v0"}},
          {"push 1 0", {"APPLIED 1#1 v1"}},
          {"at 10", {}},
          {"push 0 1", {"APPLIED 0#2 v1"}},
          {"pull 0 1", {"ANSWER 0 p1 v1"}},
          {"at 20", {}},
          {"push 0 2", {"APPLIED 0#3 v1"}},
          {"pull 0 2", {}},  // no pace of worker 1 is known yet: lo
          {"at 30", {}},
          {"push 1 1", {"APPLIED 1#2 v2"}},
          {"pull 0 2", {"ANSWER 0 p2 v2"}},
          {"push 0 3", {"APPLIED 0#4 v2"}},
          {"pull 0 3", {"ANSWER 0 p3 v2"}},
          {"at 40", {}},
          {"push 0 4", {"APPLIED 0#5 v2"}},
          {"pull 0 4", {}},
          {"die 1", {"ANSWER 0 p4 v5"}},
      });
}

TEST(ScriptsTest, DsspGrantsWhatEndsWithTheSlowestsNextPush) {
  // Worker 0 takes 10 ns, worker 1 takes 30 and pushed at 30: three more end at 60.
  Script("dssp:1,9", "", 2)
      .Play({
          {"push 0 0", {"APPLIED 0#1 v0"}},
          {"push 1 0", {"APPLIED 1#1 v1"}},
          {"at 20", {}},
          {"push 0 1", {"APPLIED 0#2 v1"}},
          {"at 30", {}},
          {"push 1 1", {"APPLIED 1#2 v2"}},
          {"push 0 2", {"APPLIED 0#3 v2"}},
          {"pull 0 2", {"ANSWER 0 p2 v2"}},
          {"at 40", {}},
          {"push 0 3", {"APPLIED 0#4 v2"}},
          {"pull 0 3", {"ANSWER 0 p3 v2"}},  // at lo, with two to 60
          {"push 0 4", {"APPLIED 0#5 v2"}},
          {"pull 0 4", {"ANSWER 0 p4 v2"}},
          {"push 0 5", {"APPLIED 0#6 v2"}},
          {"pull 0 5", {}},
          {"pull 0 5", {}},  // asked again
          {"join 2", {}},
          {"push 1 2", {"APPLIED 1#3 v3"}},
          {"die 1", {}},
          {"die 2", {"ANSWER 0 p5 v6"}},
      });
}

TEST(ScriptsTest, WhenAsksTheFormulas) {
  // The first two go on, a worker waits from two ahead on, and nobody in the first three iterations.
  Script("when:pull=\"gap < 2 || v_train < early\",push=\"count >= min(2, workers)\",early=3", "", 3)
      .Play({
          {"push 0 0", {"APPLIED 0#1 v0"}},
          {"push 0 1", {"APPLIED 0#2 v0"}},
          {"push 0 2", {"APPLIED 0#3 v0"}},
          {"pull 0 2", {"ANSWER 0 p2 v0"}},
          {"push 1 2", {"APPLIED 1#1 v3"}},
          {"push 2 0", {"APPLIED 2#1 v3"}},  // late; applied, since it is immediate
          {"push 0 4", {"APPLIED 0#4 v3"}},
          {"pull 0 4", {"ANSWER 0 p4 v3"}},
          {"push 0 5", {"APPLIED 0#5 v3"}},
          {"pull 0 5", {}},
          {"die 1", {}},
          {"die 2", {"ANSWER 0 p5 v6"}},
      });
}

TEST(ScriptsTest, APushConditionThatIsAlwaysTrueDoesNotSpin) {
  Script("when:push=\"1\"", "", 2)
      .Play({
          {"push 0 0", {"APPLIED 0#1 v1"}},
          {"pull 0 0", {"ANSWER 0 p0 v1"}},
          {"push 0 5", {"APPLIED 0#2 v6"}},
          {"pull 1 0", {"ANSWER 1 p0 v6"}},
          {"die 0", {}},
          {"die 1", {}},  // nobody is left, and nothing goes on
          {"at 1000", {}},
          {"pull 1 0", {"ANSWER 1 p0 v6"}},
      });
}

TEST(ScriptsTest, PsspTossesTheCoinOfWorkerAndProgress) {
  constexpr std::uint64_t kSeed = 5;
  struct Case {
    const char* sync;
    float significance;                         // of the pulls
    std::function<double(double gap)> waits_p;  // from gap 1 on
    int waits_min, waits_max;                   // of 200 pulls
  };
  const auto dynamic = [](double alpha) {
    return [alpha](double gap) { return alpha / (1.0 + std::exp(1.0 - gap)); };
  };
  for (const Case& c : {Case{"pssp:1,0.5", 1.0F, [](double) { return 0.5; }, 40, 120},
                        Case{"pssp:1,alpha=0.5", 0.01F, dynamic(0.5), 30, 100},
                        Case{"pssp:1,alpha=significance", 0.25F, dynamic(0.25), 15, 70},
                        Case{"pssp:1,alpha=significance", 7.0F, dynamic(1.0), 60, 150}}) {
    HandFedBlock block({.sync = c.sync, .coin_seed = kSeed});
    block.Begin(2);
    int waits = 0;
    for (int i = 0; i < 200; ++i) {
      block.Push(0, i);
      block.Forget();
      PullEvent pull = block.NextPull(0, i);
      pull.significance = c.significance;
      block->OnPull(pull, block.Now());
      const std::int64_t gap = Iteration(i) - block->v_train();
      const double coin = UnitInterval(Hash64({kSeed, 0, static_cast<std::uint64_t>(i)}));
      const bool waited = block.Heard().empty();
      EXPECT_EQ(waited, gap >= 1 && coin <= c.waits_p(static_cast<double>(gap))) << c.sync << " " << i;
      if (!waited) continue;
      ++waits;
      block->OnPull(pull, block.Now());
      EXPECT_TRUE(block.Heard().empty()) << "asked again it gets the same word";
      // Worker 1 catches up; the pull is answered when v_train passes it.
      while (block->waiting() > 0) block.Push(1, block->v_train().value());
      EXPECT_EQ(block->v_train(), Iteration(i + 1));
    }
    EXPECT_GT(waits, c.waits_min) << c.sync;
    EXPECT_LT(waits, c.waits_max) << c.sync;
  }
}

}  // namespace
}  // namespace leeway
