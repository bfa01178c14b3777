// Iterations of one group of tables, hand-fed: a script with several optimizers.
#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;

// Table "w" is of group 0 and table "u" of group 1.
class WorkerGroupsTest : public WorkerRig {
 protected:
  void Start(const char* with, const char* exchange = "every:1") {
    sync = with;
    u_group = 1;
    job.set_exchange(exchange);
    StartTables();
  }
  void Push(TableId table, std::size_t elements) {
    auto pin = std::make_shared<std::vector<float>>(elements, 1.0F);
    const std::span<const float> lent = *pin;
    ASSERT_TRUE(node->Push(table, {lent, std::move(pin), {}, 1}, {}).ok());
  }
};

TEST_F(WorkerGroupsTest, AnIterationOfOneGroupIsIdleForTheOthers) {
  Start("bsp");
  Push(w, 4);
  ASSERT_TRUE(node->Clock(0).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:1", "Pull 0@0", "Absent 2:1i", "Pull 2@0"));
  ASSERT_TRUE(node->Clock(1).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Absent 0:2i,2:2", "Pull 0@1,2@1"))
      << "an unused table of the group itself is absent, and not idle";
  EXPECT_EQ(node->iteration(), Iteration(2)) << "the job's clock counts both";
}

TEST_F(WorkerGroupsTest, AnIterationOfAllGroupsIsIdleForNone) {
  Start("bsp");
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_THAT(Sent(0), ElementsAre("Absent 0:1,2:1", "Pull 0@0,2@0"));
}

TEST_F(WorkerGroupsTest, ATableOfAnotherGroupWithAGradientIsPushed) {
  Start("bsp");
  Push(u, 2);
  ASSERT_TRUE(node->Clock(0).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Push 2:1", "Pull 2@0", "Absent 0:1", "Pull 0@0"));
}

TEST_F(WorkerGroupsTest, WhatIsSentAgainIsIdleAsBefore) {
  Start("bsp");
  ASSERT_TRUE(node->Clock(0).ok());
  (void)Sent(0);
  Reconnect(0);
  EXPECT_THAT(Sent(0), ElementsAre("Hello", "Absent 0:1,2:1i", "Pull 0@0,2@0"));
}

TEST_F(WorkerGroupsTest, TheLeadThatAWorkerReportsIsInOwnIterations) {
  Start("asp");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(node->Clock(1).ok());
  // The values in use are the first ones, of v_train 0.
  Push(w, 4);
  EXPECT_EQ(node->counters().lead[0], 2U) << "both blocks of w: none of the five was its own";
  Push(u, 2);
  EXPECT_EQ(node->counters().lead[5], 1U);
}

TEST_F(WorkerGroupsTest, ACacheAgesByOwnIterations) {
  Start("ssptable:1");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(node->Clock(1).ok());
  EXPECT_EQ(w_pair.ready(), Iteration(2)) << "its cache serves while the other group steps";
  EXPECT_LT(u_pair.ready(), Iteration(2));
  ASSERT_TRUE(node->Clock(0).ok());
  EXPECT_EQ(w_pair.ready(), Iteration(3));
  ASSERT_TRUE(node->Clock(0).ok());
  EXPECT_EQ(w_pair.ready(), Iteration(3)) << "two of its own: it is asked for";
}

TEST_F(WorkerGroupsTest, WhatIsStaleIsCountedInOwnIterations) {
  Start("bsp", "when_stale:2");
  Push(w, 4);
  ASSERT_TRUE(node->Clock(0).ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(node->Clock(1).ok());
  for (std::uint64_t seq = 1; seq <= 4; ++seq) Verdict(0, 0, seq, wire::Verdict::kAbsent);
  EXPECT_THAT(env.transport.TakeSent(shard[0], wire::Kind::kPush), ::testing::IsEmpty());
  Push(w, 4);
  ASSERT_TRUE(node->Clock(0).ok());
  EXPECT_THAT(env.transport.TakeSent(shard[0], wire::Kind::kPush), ::testing::IsEmpty());
  Push(w, 4);
  EXPECT_EQ(env.transport.TakeSent(shard[0], wire::Kind::kPush).size(), 1U);
}

TEST_F(WorkerGroupsTest, GradientsThatAddUpGoOutInAnIterationOfAnotherGroupToo) {
  Start("bsp", "every:2");
  for (int round = 0; round < 2; ++round) {
    Push(w, 4);
    ASSERT_TRUE(node->Clock(0).ok());
    EXPECT_THAT(env.transport.TakeSent(shard[0], wire::Kind::kPush), ::testing::IsEmpty());
    Push(u, 2);
    ASSERT_TRUE(node->Clock(1).ok());
    EXPECT_EQ(env.transport.TakeSent(shard[0], wire::Kind::kPush).size(), 2U) << "of w and of u";
    for (const std::uint64_t seq : {1, 2}) {
      const auto verdict = seq == 1 ? wire::Verdict::kAbsent : wire::Verdict::kSummed;
      for (const std::uint32_t block : {0U, 2U}) Verdict(0, block, 2 * round + seq, verdict);
    }
  }
}

TEST_F(WorkerGroupsTest, ABoundedDelayCountsOwnIterations) {
  Start("bounded:1");
  Push(w, 4);  // its verdict does not come
  ASSERT_TRUE(node->Clock(0).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(node->Clock(1).ok());
  const auto settle = [&](std::uint64_t seq) { Verdict(0, 2, seq, wire::Verdict::kAbsent); };
  for (std::uint64_t seq = 1; seq <= 4; ++seq) settle(seq);
  for (std::int64_t i = 0; i <= 3; ++i) Answer(0, 2, i, 1);
  std::optional<Status> usable;
  node->Sync(u, Into(usable));
  EXPECT_TRUE(usable.has_value()) << "one own iteration of w is open, as bounded:1 lets it";
  usable.reset();
  Push(w, 4);
  ASSERT_TRUE(node->Clock(0).ok());
  settle(5);
  Answer(0, 2, 4, 1);
  node->Sync(u, Into(usable));
  EXPECT_FALSE(usable.has_value()) << "two are open";
}

}  // namespace
}  // namespace leeway::testing
