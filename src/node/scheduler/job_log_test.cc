#include "node/scheduler/job_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing/fake_env.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Numbers stand for frames.
class NumbersAtTheGate final : public LogGate {
 public:
  void Hold(std::function<void()> waiting) override { waiting_ = std::move(waiting); }
  [[nodiscard]] std::uint64_t last_said() const override { return last_; }
  void Release(std::uint64_t up_to) override { released = up_to; }
  void DropHeld() override { dropped = true; }
  void Say() {
    ++last_;
    waiting_();
  }

  std::uint64_t released = 0;
  bool dropped = false;

 private:
  std::uint64_t last_ = 0;
  std::function<void()> waiting_;
};

class JobLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options.log_folder = "/logs";
    options.job.job = "j";
    options.gather_timeout = seconds(5);
    log.Open(options, [this](const Result<std::optional<DecodedLog>>& read) {
      EXPECT_TRUE(read.ok()) << read.status().ToString();
      ++reads;
    });
  }
  void GoOn() {
    world.storage.RunAll();
    ASSERT_EQ(reads, 1);
    log.GoOn(false);
  }
  void Settle() {
    world.Advance(Duration::zero());
    world.storage.RunAll();
  }
  std::optional<SchedulerLog::Safety> AddChanges(wire::pb::LogRecord& record) {
    if (epoch == logged) return std::nullopt;
    logged = epoch;
    record.mutable_state()->set_epoch(epoch);
    return SchedulerLog::Safety::kPower;
  }
  [[nodiscard]] wire::pb::LogRecord Snapshot() const {
    wire::pb::LogRecord record;
    record.set_whole(true);
    record.mutable_state()->set_epoch(epoch);
    return record;
  }

  testing::FakeEnv world;
  SchedulerOptions options;
  NumbersAtTheGate gate;
  std::uint64_t epoch = 0, logged = 0;
  int reads = 0, all_written = 0;
  std::vector<Status> lost;
  JobLog log{world.env,
             gate,
             {.add_changes = [this](wire::pb::LogRecord& record) { return AddChanges(record); },
              .snapshot = [this] { return Snapshot(); },
              .all_written = [this] { ++all_written; },
              .lost = [this](const Status& why) { lost.push_back(why); }}};
};

TEST_F(JobLogTest, WhatDependsOnAChangeLeavesOnceTheChangeIsWritten) {
  GoOn();
  epoch = 1;
  gate.Say();
  gate.Say();
  world.Advance(Duration::zero());
  EXPECT_EQ(gate.released, 0U);
  world.storage.RunAll();
  EXPECT_EQ(gate.released, 2U);
  const Result<DecodedLog> file = DecodeLog(world.storage.files["/logs/scheduler.log"]);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->records.back().state().epoch(), 1U);
}

TEST_F(JobLogTest, WhatIsSaidDuringAWriteWaitsForTheNext) {
  GoOn();
  epoch = 1;
  gate.Say();
  world.Advance(Duration::zero());
  epoch = 2;
  gate.Say();
  world.Advance(Duration::zero());
  while (gate.released == 0 && world.storage.Step()) {
  }
  EXPECT_EQ(gate.released, 1U);
  world.storage.RunAll();
  EXPECT_EQ(gate.released, 2U);
}

TEST_F(JobLogTest, WithoutAChangeAllLeavesAfterTheEventUnderWay) {
  GoOn();
  gate.Say();
  EXPECT_EQ(gate.released, 0U);
  world.Advance(Duration::zero());
  EXPECT_EQ(gate.released, 1U);
  EXPECT_EQ(all_written, 1);
}

TEST_F(JobLogTest, BeforeTheLogIsReadOnlyRefusalsAreSaidAndNothingIsWritten) {
  EXPECT_FALSE(log.is_read());
  epoch = 1;
  gate.Say();
  world.Advance(Duration::zero());
  EXPECT_EQ(gate.released, 1U);
  EXPECT_EQ(logged, 0U);
  EXPECT_FALSE(log.writes());
}

TEST_F(JobLogTest, ALogThatCannotBeWrittenIsLostWithAllThatWaited) {
  GoOn();
  epoch = 1;
  gate.Say();
  world.storage.failure = Status(StatusCode::kUnavailable, "disk full");
  for (int i = 0; i < 20; ++i) {
    world.Advance(seconds(1));
    world.storage.RunAll();
  }
  EXPECT_THAT(lost, SizeIs(1));
  EXPECT_TRUE(gate.dropped);
  EXPECT_EQ(gate.released, 0U);
  EXPECT_FALSE(log.writes());
}

TEST_F(JobLogTest, AfterStopNothingIsWritten) {
  GoOn();
  log.Stop();
  epoch = 1;
  gate.Say();
  Settle();
  EXPECT_EQ(logged, 0U);
}

}  // namespace
}  // namespace leeway
