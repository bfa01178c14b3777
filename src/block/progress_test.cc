#include "block/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/hash.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MemberState ProgressMember(std::uint32_t worker, std::int64_t first, bool gone = false,
                           std::uint32_t life = 1) {
  return {.key = {WorkerId(worker), Incarnation(life)}, .first = Iteration(first), .gone = gone};
}

// As a block would under a model of count >= min(enough, N).
void AdvanceFully(Progress& progress, std::uint32_t enough = 1000) {
  while (progress.MayPass() &&
         progress.CountAt(progress.v_train()) >= std::min(enough, progress.MembersAt(progress.v_train()))) {
    progress.AdvanceTo(progress.v_train() + 1);
  }
}

TEST(ProgressTest, CountsAndMembersAgreeWithTheirDefinition) {
  struct Plain {
    std::uint32_t life = 1;
    std::int64_t first = 0, progress = -1, last = 1'000'000'000;
    bool live = true;
    bool finished = false;  // and no later life of its worker has come
  };
  std::uint32_t late_ones = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::uint32_t enough = seed % 2 == 0 ? 3 : 1000;  // as drop:3, or as models that wait for everyone
    std::uint64_t random = seed;
    const auto draw = [&](std::uint64_t n) {
      return static_cast<std::int64_t>((random = Mix64(random)) % n);
    };
    Progress progress;
    std::vector<MemberState> roster;
    std::vector<Plain> plain(6);  // the lives that roster[i] speaks of
    for (std::uint32_t w = 0; w < 6; ++w) roster.push_back(ProgressMember(w, 0));
    progress.SetMembers(roster);
    for (int round = 0; round < 400; ++round) {
      const std::size_t at = static_cast<std::size_t>(draw(plain.size()));
      const std::int64_t what = draw(40);
      if (what == 0 && plain[at].live) {
        roster[at].gone = true;
        roster[at].finished = plain[at].finished = draw(2) == 0;
        progress.SetMembers(roster);
        plain[at].live = false;
        plain[at].last = plain[at].progress + 1;
        if (!plain[at].finished) plain[at].last = std::max(plain[at].last, progress.v_train().value());
      } else if (what == 1 && !plain[at].live && roster.size() < 30) {
        std::uint32_t life = 1;
        bool lives = false;
        std::int64_t former = -1;
        for (std::size_t i = 0; i < roster.size(); ++i) {
          if (roster[i].key.worker != roster[at].key.worker) continue;
          life = std::max(life, roster[i].key.incarnation.value() + 1);
          lives = lives || plain[i].live;
          former = std::max(former, plain[i].progress);
        }
        if (lives) continue;
        for (std::size_t i = 0; i < roster.size(); ++i) {
          if (roster[i].key.worker == roster[at].key.worker) plain[i].finished = false;
        }
        const bool untouched = progress.v_train() == Iteration(0) &&
                               std::ranges::all_of(plain, [](const Plain& p) { return p.progress < 0; });
        const std::int64_t asked = draw(3) + progress.v_train().value();
        roster.push_back(ProgressMember(roster[at].key.worker.value(), asked, false, life));
        progress.SetMembers(roster);
        const std::int64_t open = untouched ? asked : std::max(asked, progress.v_train().value() + 1);
        const std::int64_t first = std::max(open, former + 1);
        plain.push_back({.life = life, .first = first, .progress = first - 1});
      } else if (plain[at].live) {
        plain[at].progress += 1 + draw(2);
        progress.Sent(roster[at].key.worker, Iteration(plain[at].progress), TimePoint());
      }
      AdvanceFully(progress, enough);
      std::int64_t lowest = progress.v_train().value();  // that anyone can still send
      for (const Plain& p : plain) lowest = p.live ? std::min(lowest, p.progress + 1) : lowest;
      for (std::int64_t i = lowest; i < progress.v_train().value() + 6; ++i) {
        std::uint32_t count = 0, members = 0, step_members = 0;
        for (const Plain& p : plain) {
          if (i >= p.first && (i < p.last || p.finished)) ++step_members;
          if (i < p.first || i >= p.last) continue;
          ++members;
          count += p.progress >= i ? 1 : 0;
        }
        ASSERT_EQ(progress.StepMembersAt(Iteration(i)), step_members)
            << "seed " << seed << " round " << round << " i " << i;
        late_ones += i < progress.v_train().value() && step_members > 0 ? 1 : 0;
        if (i < progress.v_train().value()) continue;  // nobody asks
        ASSERT_EQ(progress.MembersAt(Iteration(i)), members)
            << "seed " << seed << " round " << round << " i " << i;
        ASSERT_EQ(progress.CountAt(Iteration(i)), count)
            << "seed " << seed << " round " << round << " i " << i;
      }
    }
    ASSERT_GT(progress.v_train(), Iteration(3)) << "seed " << seed;
  }
  EXPECT_GT(late_ones, 1000U);
}

TEST(ProgressTest, VTrainStopsAtWhatAnyoneHasSent) {
  Progress progress;
  progress.SetMembers(std::vector{ProgressMember(0, 0)});
  EXPECT_TRUE(!progress.MayPass());
  progress.Sent(WorkerId(0), Iteration(4), TimePoint());
  AdvanceFully(progress);
  EXPECT_EQ(progress.v_train(), Iteration(5));
}

TEST(ProgressTest, VTrainGoesUpToTheFirstOfAMemberToCome) {
  Progress progress;
  progress.SetMembers(std::vector{ProgressMember(0, 0)});
  progress.Sent(WorkerId(0), Iteration(0), TimePoint());
  AdvanceFully(progress);
  progress.SetMembers(std::vector{ProgressMember(0, 0, true), ProgressMember(1, 10)});
  AdvanceFully(progress);
  EXPECT_EQ(progress.v_train(), Iteration(10));
  EXPECT_THAT(progress.Missing(), ElementsAre(WorkerId(1)));
}

TEST(ProgressTest, WithNoMembersNothingAdvances) {
  Progress progress;
  EXPECT_FALSE(progress.MayPass());
  progress.SetMembers(std::vector{ProgressMember(0, 0), ProgressMember(1, 0)});
  progress.Sent(WorkerId(0), Iteration(2), TimePoint());
  progress.SetMembers({});
  AdvanceFully(progress);
  EXPECT_EQ(progress.v_train(), Iteration(3)) << "what the gone ones gave is complete";
  EXPECT_FALSE(progress.MayPass());
  EXPECT_EQ(progress.Fastest(), Iteration(-1));
  EXPECT_EQ(progress.Slowest(), Iteration(-1));
}

TEST(ProgressTest, AStrideEndsWhereCountsCanDiffer) {
  Progress progress;
  progress.SetMembers(std::vector{ProgressMember(0, 0), ProgressMember(1, 0)});
  progress.Sent(WorkerId(0), Iteration(1'000'000), TimePoint());
  EXPECT_EQ(progress.StrideEnd(), Iteration(1'000'001));
  progress.Sent(WorkerId(1), Iteration(70), TimePoint());
  EXPECT_EQ(progress.StrideEnd(), Iteration(71));
  progress.SetMembers(std::vector{ProgressMember(0, 0), ProgressMember(1, 0), ProgressMember(2, 40)});
  EXPECT_EQ(progress.StrideEnd(), Iteration(40));
  progress.AdvanceTo(Iteration(40));
  EXPECT_EQ(progress.MembersAt(Iteration(40)), 3U);
  EXPECT_EQ(progress.CountAt(Iteration(40)), 2U);
}

TEST(ProgressTest, AStrideEndsAtTheFirstOfOneThatIsAheadLivingOrGone) {
  Progress progress;
  progress.SetMembers(std::vector{ProgressMember(0, 0)});
  progress.Sent(WorkerId(0), Iteration(100), TimePoint());
  progress.SetMembers(std::vector{ProgressMember(0, 0), ProgressMember(1, 40)});
  progress.Sent(WorkerId(1), Iteration(60), TimePoint());
  EXPECT_EQ(progress.StrideEnd(), Iteration(40));
  progress.SetMembers(std::vector{ProgressMember(0, 0), ProgressMember(1, 40, true)});
  EXPECT_EQ(progress.StrideEnd(), Iteration(40));
  progress.AdvanceTo(Iteration(40));
  EXPECT_EQ(progress.MembersAt(Iteration(40)), 2U);
  EXPECT_EQ(progress.CountAt(Iteration(40)), 2U);
  EXPECT_EQ(progress.StrideEnd(), Iteration(61)) << "its last";
  progress.AdvanceTo(Iteration(61));
  EXPECT_EQ(progress.MembersAt(Iteration(61)), 1U);
}

TEST(ProgressTest, FastestSlowestAndIntervalsAreThoseOfLiveMembers) {
  Progress progress;
  progress.SetMembers(std::vector{ProgressMember(0, 0), ProgressMember(1, 0), ProgressMember(2, 0)});
  progress.Sent(WorkerId(0), Iteration(0), TimePoint(Duration(10)));
  EXPECT_EQ(progress.PushInterval(WorkerId(0)), std::nullopt);
  progress.Sent(WorkerId(0), Iteration(1), TimePoint(Duration(25)));
  EXPECT_EQ(progress.PushInterval(WorkerId(0)), Duration(15));
  progress.Sent(WorkerId(1), Iteration(7), TimePoint());
  EXPECT_EQ(progress.Fastest(), Iteration(7));
  EXPECT_EQ(progress.Slowest(), Iteration(-1));
  EXPECT_EQ(progress.ProgressOf(WorkerId(2)), Iteration(-1));
  EXPECT_EQ(progress.ProgressOf(WorkerId(9)), std::nullopt);
  progress.SetMembers(
      std::vector{ProgressMember(0, 0), ProgressMember(1, 0, true), ProgressMember(2, 0, true)});
  EXPECT_EQ(progress.Fastest(), Iteration(1));
  EXPECT_EQ(progress.Slowest(), Iteration(1));
  EXPECT_EQ(progress.ProgressOf(WorkerId(1)), std::nullopt);
}

TEST(ProgressTest, SetMembersNamesTheLivesThatEnded) {
  Progress progress;
  EXPECT_THAT(
      progress.SetMembers(std::vector{ProgressMember(0, 0), ProgressMember(1, 0), ProgressMember(2, 0)}),
      IsEmpty());
  EXPECT_THAT(progress.SetMembers(std::vector{ProgressMember(0, 0, true), ProgressMember(0, 0, false, 2),
                                              ProgressMember(1, 0)}),
              ElementsAre(MemberKey{WorkerId(0), Incarnation(1)}, MemberKey{WorkerId(2), Incarnation(1)}));
  EXPECT_EQ(progress.StandingOf({WorkerId(0), Incarnation(1)}), Progress::Standing::kReplaced);
  EXPECT_EQ(progress.StandingOf({WorkerId(0), Incarnation(2)}), Progress::Standing::kMember);
  EXPECT_EQ(progress.StandingOf({WorkerId(2), Incarnation(1)}), Progress::Standing::kGone);
  EXPECT_EQ(progress.StandingOf({WorkerId(2), Incarnation(2)}), Progress::Standing::kUnknown);
}

}  // namespace
}  // namespace leeway
