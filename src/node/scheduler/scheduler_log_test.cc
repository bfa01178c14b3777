#include "node/scheduler/scheduler_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing/fake_env.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeEnv;
using ::testing::HasSubstr;

constexpr const char* kPath = "/logs/scheduler.log";

class SchedulerLogTest : public ::testing::Test, protected SchedulerLogEvents {
 protected:
  wire::pb::LogRecord Snapshot() override {
    ++snapshots;
    wire::pb::LogRecord record = Change();
    record.set_whole(true);
    record.mutable_state()->set_message(std::string(padding, 'x'));
    return record;
  }
  void OnWritten() override { ++written; }
  void OnGivenUp(const Status& why) override { given_up.push_back(why); }

  [[nodiscard]] wire::pb::LogRecord Change() const {
    wire::pb::LogRecord record;
    record.mutable_state()->set_epoch(epoch);
    return record;
  }
  void Write(std::uint64_t to, SchedulerLog::Safety safety = SchedulerLog::Safety::kPower) {
    epoch = to;
    log->Write(Change(), safety);
  }
  std::vector<std::string> TakeCalls() { return std::exchange(world.storage.calls, {}); }
  std::vector<std::uint64_t> Epochs() {
    const Result<DecodedLog> read = DecodeLog(world.storage.files[kPath]);
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    std::vector<std::uint64_t> epochs;
    if (!read.ok()) return epochs;
    for (const wire::pb::LogRecord& record : read->records) epochs.push_back(record.state().epoch());
    return epochs;
  }

  FakeEnv world;
  std::uint64_t epoch = 0;
  std::size_t padding = 0;
  int snapshots = 0, written = 0;
  std::vector<Status> given_up;
  std::unique_ptr<SchedulerLog> log = std::make_unique<SchedulerLog>(world.env, "/logs", "j", seconds(5),
                                                                     static_cast<SchedulerLogEvents&>(*this));
};

TEST_F(SchedulerLogTest, TheFirstWriteMakesTheFileAndLaterOnesAppend) {
  Write(1);
  EXPECT_TRUE(log->busy());
  world.storage.RunAll();
  EXPECT_EQ(written, 1);
  EXPECT_THAT(TakeCalls(), ElementsAre("remove /logs/scheduler.log.tmp", "create /logs/scheduler.log.tmp",
                                       "sync /logs/scheduler.log.tmp",
                                       "rename /logs/scheduler.log.tmp /logs/scheduler.log", "sync folder /",
                                       "sync folder /logs"));
  Write(2);
  EXPECT_EQ(written, 1);
  world.storage.RunAll();
  EXPECT_EQ(written, 2);
  EXPECT_THAT(TakeCalls(), ElementsAre("append /logs/scheduler.log", "sync /logs/scheduler.log"));
  EXPECT_THAT(Epochs(), ElementsAre(1, 2));
  EXPECT_EQ(snapshots, 1);
}

TEST_F(SchedulerLogTest, WhatMaySurviveLessIsNotSynced) {
  Write(1);
  world.storage.RunAll();
  (void)TakeCalls();
  Write(2, SchedulerLog::Safety::kProcess);
  world.storage.RunAll();
  EXPECT_EQ(written, 2);
  EXPECT_THAT(TakeCalls(), ElementsAre("append /logs/scheduler.log"));
}

TEST_F(SchedulerLogTest, WhatIsThereIsReadAndWrittenAnew) {
  Write(1);
  world.storage.RunAll();
  Write(2);
  world.storage.RunAll();
  world.storage.files[kPath].resize(world.storage.files[kPath].size() - 3);
  log = std::make_unique<SchedulerLog>(world.env, "/logs", "j", seconds(5),
                                       static_cast<SchedulerLogEvents&>(*this));
  std::vector<std::uint64_t> epochs;
  log->Read([&](const Result<std::optional<DecodedLog>>& read) {
    ASSERT_TRUE(read.ok() && *read);
    for (const wire::pb::LogRecord& record : (*read)->records) epochs.push_back(record.state().epoch());
  });
  world.storage.RunAll();
  EXPECT_THAT(epochs, ElementsAre(1));
  EXPECT_THAT(world.log.lines.back(), HasSubstr("is torn"));
  Write(3);
  world.storage.RunAll();
  EXPECT_THAT(Epochs(), ElementsAre(3)) << "nothing is appended behind a torn end";
}

TEST_F(SchedulerLogTest, NoFileIsNoError) {
  bool none = false;
  log->Read([&](const Result<std::optional<DecodedLog>>& read) { none = read.ok() && !*read; });
  world.storage.RunAll();
  EXPECT_TRUE(none);
}

TEST_F(SchedulerLogTest, AFileThatIsNoLogIsNamed) {
  world.storage.files[kPath] = std::vector<std::byte>(100);
  Status status;
  log->Read([&](const Result<std::optional<DecodedLog>>& read) { status = read.status(); });
  world.storage.RunAll();
  EXPECT_THAT(status.message(), HasSubstr("the scheduler's log /logs/scheduler.log: its header"));
}

TEST_F(SchedulerLogTest, AfterAFailureAnotherFileIsBegun) {
  Write(1);
  world.storage.RunAll();
  world.storage.failure = ResourceExhausted("no room left");
  Write(2);
  world.storage.RunAll();
  EXPECT_EQ(written, 1);
  epoch = 3;  // meanwhile
  world.Advance(milliseconds(500));
  world.storage.RunAll();
  EXPECT_TRUE(log->busy());
  world.storage.failure = Status::Ok();
  world.Advance(seconds(1));
  world.storage.RunAll();
  EXPECT_EQ(written, 2);
  EXPECT_THAT(Epochs(), ElementsAre(3));
  EXPECT_TRUE(given_up.empty());
  EXPECT_THAT(world.log.lines.back(), HasSubstr("can be written again"));
}

TEST_F(SchedulerLogTest, AtTheLimitItGivesUpAndSaysWhy) {
  world.storage.failure = Unavailable("the device is broken");
  Write(1);
  for (int i = 0; i < 60; ++i) {
    world.storage.RunAll();
    world.Advance(milliseconds(100));
  }
  ASSERT_EQ(given_up.size(), 1U);
  EXPECT_EQ(given_up[0].code(), StatusCode::kUnavailable);
  EXPECT_THAT(given_up[0].message(), HasSubstr(kPath));
  EXPECT_THAT(given_up[0].message(), HasSubstr("the device is broken"));
  EXPECT_EQ(written, 0);
  EXPECT_EQ(world.timers.pending(), 0U);
}

TEST_F(SchedulerLogTest, ADiskThatDoesNotAnswerIsAFailureToo) {
  Write(1);
  world.Advance(seconds(5));
  ASSERT_EQ(given_up.size(), 1U);
  EXPECT_THAT(given_up[0].message(), HasSubstr("the disk does not answer"));
  world.storage.RunAll();
  EXPECT_EQ(written, 0) << "too late";
}

TEST_F(SchedulerLogTest, ALogThatHasGrownIsWrittenAnew) {
  padding = 600'000;
  Write(1);
  world.storage.RunAll();
  padding = 0;
  wire::pb::LogRecord large;
  large.mutable_state()->set_message(std::string(600'000, 'y'));
  for (int i = 0; i < 3; ++i) {
    log->Write(large, SchedulerLog::Safety::kPower);
    world.storage.RunAll();
  }
  EXPECT_EQ(snapshots, 1) << "four times what it began with, and not before";
  log->Write(large, SchedulerLog::Safety::kPower);
  world.storage.RunAll();
  Write(7);
  world.storage.RunAll();
  EXPECT_EQ(snapshots, 2);
  EXPECT_LT(world.storage.files[kPath].size(), 700'000U);
  EXPECT_EQ(written, 6);
}

TEST_F(SchedulerLogTest, WhatIsUnderWayDoesNotReachOneThatIsGone) {
  Write(1);
  log.reset();
  world.storage.RunAll();
  world.Advance(seconds(10));
  EXPECT_EQ(written, 0);
  EXPECT_TRUE(given_up.empty());
}

}  // namespace
}  // namespace leeway
