#include "node/worker/push_loans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/errors.h"
#include "node/testing/fake_env.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

class PushLoansTest : public ::testing::Test {
 protected:
  PushLoansTest() {
    table.blocks.resize(2);
    for (WorkerBlock& block : table.blocks) {
      block.table = &table;
      block.model = std::make_shared<BlockModel>();
    }
  }
  std::shared_ptr<LentPush> Take() {
    return loans.Take(table, Iteration(7), 3, {values, nullptr, {}, 1},
                      [this](const Status& status) { told = status; });
  }
  void OnVerdict(std::size_t block, std::shared_ptr<LentPush> lent, wire::Verdict verdict) {
    QueuedPush push;
    push.seq = Seq(1);
    push.lent = std::move(lent);
    loans.OnVerdict(table.blocks[block], std::move(push), verdict, Iteration(0));
  }
  // The queues of two blocks hold the loan, and let go of it with their verdicts.
  void Settle(wire::Verdict first, wire::Verdict second) {
    std::shared_ptr<LentPush> one = Take(), other = one;
    OnVerdict(0, std::move(one), first);
    due.Run();
    EXPECT_FALSE(told.has_value()) << "a block has no verdict";
    OnVerdict(1, std::move(other), second);
    due.Run();
  }

  testing::FakeEnv env;
  DueCallbacks due;
  int looked = 0;
  WorkerCounters counters;
  PushLoans loans{env.timers, due, counters, [this] { ++looked; }};
  ParameterPair pair{4, nullptr, nullptr};
  BufferPool pool{1 << 20};
  WorkerTable table{TableId(0), {.name = "w", .shape = {4}, .optimizer = "sgd"}, pair, pool};
  std::vector<float> values{1, 2, 3, 4};
  std::optional<Status> told;
};

TEST_F(PushLoansTest, TheOwnerIsToldWithTheLastVerdict) {
  Settle(wire::Verdict::kApplied, wire::Verdict::kSummed);
  ASSERT_TRUE(told.has_value());
  EXPECT_TRUE(told->ok());
  EXPECT_FALSE(loans.draining());
  EXPECT_EQ(counters.applied, 1U);
  EXPECT_EQ(counters.summed, 1U);
}

TEST_F(PushLoansTest, AnAbsenceIsCountedAndObserved) {
  std::vector<std::int64_t> told_v_train;
  loans.SetObserver([&](TableId, BlockId, Seq, Iteration, wire::Verdict, Iteration v_train) {
    told_v_train.push_back(v_train.value());
  });
  loans.OnVerdict(table.blocks[0], QueuedPush(), wire::Verdict::kAbsent, Iteration(4));
  EXPECT_EQ(counters.absent, 1U);
  EXPECT_EQ(told_v_train, std::vector<std::int64_t>{4});
}

TEST_F(PushLoansTest, ARefusalNamesTheTableTheBlocksAndTheIteration) {
  Settle(wire::Verdict::kRefused, wire::Verdict::kApplied);
  ASSERT_TRUE(told.has_value());
  EXPECT_THAT(told->message(), HasSubstr("table \"w\": 1 of 2 blocks of the gradient of iteration 7"));
}

TEST_F(PushLoansTest, AnArrayThatCameTooLateIsAnError) {
  std::shared_ptr<LentPush> one = Take();
  one->assigns = AssignedArray{};
  std::shared_ptr<LentPush> other = one;
  OnVerdict(0, std::move(one), wire::Verdict::kLateDropped);
  OnVerdict(1, std::move(other), wire::Verdict::kApplied);
  due.Run();
  ASSERT_TRUE(told.has_value());
  EXPECT_THAT(told->message(), HasSubstr("1 of 2 blocks have gone on"));
  EXPECT_EQ(table.blocks[0].assigns.size(), 1U);
  EXPECT_EQ(counters.applied, 0U) << "it is no push";
  EXPECT_FALSE(Take()->assigns.has_value()) << "the next loan is of a gradient";
}

TEST_F(PushLoansTest, RefusedInitialValuesAreAnError) {
  std::shared_ptr<LentPush> one = Take(), other = one;
  loans.OnInitialized(table.blocks[0], std::move(one), false);
  loans.OnInitialized(table.blocks[1], std::move(other), true);
  due.Run();
  ASSERT_TRUE(told.has_value());
  EXPECT_THAT(told->message(), HasSubstr("the initial values of 1 of 2 blocks were refused"));
}

TEST_F(PushLoansTest, ASendThatStillReadsTheMemoryHoldsTheAnswerBack) {
  std::shared_ptr<LentPush> lent = Take(), read = lent;
  loans.Return(std::move(lent), Unavailable("gone"));
  EXPECT_TRUE(loans.draining());
  env.Advance(std::chrono::milliseconds(1));
  due.Run();
  EXPECT_FALSE(told.has_value());
  EXPECT_EQ(looked, 1);
  read.reset();
  env.Advance(std::chrono::milliseconds(1));
  due.Run();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->message(), "gone");
  EXPECT_FALSE(loans.draining());
  EXPECT_EQ(env.timers.pending(), 0U);
}

TEST_F(PushLoansTest, ALoanThatHasEndedIsUsedAgain) {
  std::shared_ptr<LentPush> lent = Take();
  const LentPush* const at = lent.get();
  loans.Return(std::move(lent), Status::Ok());
  EXPECT_EQ(Take().get(), at);
}

}  // namespace
}  // namespace leeway
