#include "node/worker/wait_account.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

constexpr TimePoint At(int s) { return TimePoint(std::chrono::seconds(s)); }
constexpr std::uint64_t kSecond = 1'000'000'000;

class WaitAccountTest : public ::testing::Test {
 protected:
  WaitAccountTest() {
    table.blocks.resize(1);
    table.blocks[0].table = &table;
    table.ended_by = &table.blocks[0];
  }
  WorkerCounters counters;
  WaitAccount waits{counters};
  ParameterPair pair{2, nullptr, nullptr};
  BufferPool pool{1 << 20};
  WorkerTable table{TableId(0), {.name = "w", .shape = {2}}, pair, pool};
};

TEST_F(WaitAccountTest, WaitsThatOverlapCountOnce) {
  waits.Begin(At(10));
  waits.Begin(At(12));
  EXPECT_EQ(waits.open(), 2U);
  EXPECT_FALSE(waits.End(At(13)));
  EXPECT_TRUE(waits.End(At(15)));
  EXPECT_EQ(counters.wait_ns, 5 * kSecond);
}

TEST_F(WaitAccountTest, TimeIsChargedToServerTableBlockAndWorker) {
  table.ended_for = WorkerId(3);
  waits.Begin(At(10));
  ASSERT_TRUE(waits.End(At(12)));
  waits.Charge(table, 7, {}, At(12));
  EXPECT_EQ(counters.wait_by_ns.at("server.7"), 2 * kSecond);
  EXPECT_EQ(counters.wait_by_ns.at("table.w"), 2 * kSecond);
  EXPECT_EQ(counters.wait_by_ns.at("worker.3"), 2 * kSecond);
  EXPECT_EQ(table.blocks[0].waited, std::chrono::seconds(2));
}

TEST_F(WaitAccountTest, TimeAtTheBarrierOfAStepIsTakenOffFirst) {
  waits.Begin(At(10));
  ASSERT_TRUE(waits.End(At(15)));
  waits.Charge(table, 0, At(13), At(15));
  EXPECT_EQ(counters.wait_by_ns.at("step.barrier"), 3 * kSecond);
  EXPECT_EQ(counters.wait_by_ns.at("server.0"), 2 * kSecond);
  EXPECT_FALSE(counters.wait_by_ns.contains("worker.0")) << "held up for no worker";
}

TEST_F(WaitAccountTest, ComputingIsTheStepWithoutItsWaits) {
  EXPECT_FALSE(waits.training());
  EXPECT_FALSE(waits.SinceStep(At(5)).has_value());
  waits.NoteBeforeTraining(At(5));
  waits.Begin(At(6));
  ASSERT_TRUE(waits.End(At(8)));
  EXPECT_TRUE(waits.training());
  EXPECT_EQ(waits.SinceTrainingBegan(At(10)), std::chrono::seconds(5));
  EXPECT_EQ(waits.Computing(At(10)), std::chrono::seconds(3));
  waits.NoteStep(At(11));
  EXPECT_EQ(waits.SinceStep(At(12)), std::chrono::seconds(1));
  EXPECT_EQ(waits.Computing(At(12)), std::chrono::seconds(1));
  EXPECT_EQ(waits.SinceTrainingBegan(At(12)), std::chrono::seconds(7));
}

}  // namespace
}  // namespace leeway
