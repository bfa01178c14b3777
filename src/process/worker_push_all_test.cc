// Worker::PushAll against a whole job on loopback: one worker, one server, real threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "leeway/worker.h"
#include "process/local_job.h"
#include "process/testing/quiet_log.h"

namespace leeway::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class WorkerUpdatesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<LocalJob>> started = LocalJob::Start({}, log);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    job = *std::move(started);
    WorkerOptions options;
    options.scheduler = job->scheduler();
    options.link.secret = job->secret();
    Result<std::unique_ptr<Worker>> joined = Worker::Initialize(options);
    ASSERT_TRUE(joined.ok()) << joined.status().ToString() << log.Text();
    worker = *std::move(joined);
    for (const char* name : {"a", "b"}) {
      const Result<TableId> table = worker->CreateTable({.name = name, .shape = {4}});
      ASSERT_TRUE(table.ok()) << table.status().ToString();
      tables.push_back(*table);
    }
    ASSERT_TRUE(worker->Start().ok());
    for (const TableId table : tables)
      ASSERT_TRUE(worker->Broadcast(table, std::vector<float>(4, 10.0F)).ok());
  }

  std::vector<TablePush> Updates(std::size_t second_elements = 4) {
    return {{tables[0], ones, {.hyper = {.lr = 1.0F}}},
            {tables[1], std::span(ones).first(second_elements), {.hyper = {.lr = 2.0F}}}};
  }

  void ExpectValues(TableId table, float value) {
    const Result<std::span<const float>> values = worker->Sync(table);
    ASSERT_TRUE(values.ok()) << values.status().ToString();
    EXPECT_THAT(*values, Each(value));
  }

  const std::vector<float> ones = std::vector<float>(4, 1.0F);
  QuietLog log;
  std::unique_ptr<LocalJob> job;
  std::unique_ptr<Worker> worker;  // after job: ends first
  std::vector<TableId> tables;
};

TEST_F(WorkerUpdatesTest, EachTableGetsItsOwnUpdateAndTicket) {
  const Result<std::vector<Ticket>> tickets = worker->PushAll(Updates());
  ASSERT_TRUE(tickets.ok()) << tickets.status().ToString();
  ASSERT_EQ(tickets->size(), 2U);
  ASSERT_TRUE(worker->Clock().ok());
  for (const Ticket ticket : *tickets) EXPECT_TRUE(worker->Wait(ticket).ok());
  EXPECT_EQ(worker->Wait(tickets->front()).code(), StatusCode::kNotFound) << "an outcome is given once";
  ExpectValues(tables[0], 9.0F);
  ExpectValues(tables[1], 8.0F);
}

TEST_F(WorkerUpdatesTest, AfterAnErrorNoneWasMade) {
  EXPECT_THAT(worker->PushAll(Updates(3)).status().message(), HasSubstr("a gradient of 3 values"));
  std::vector<TablePush> twice = Updates();
  twice[1].table = tables[0];
  EXPECT_THAT(worker->PushAll(twice).status().message(), HasSubstr("was pushed in iteration 0 already"));
  ASSERT_TRUE(worker->PushAll(Updates()).ok()) << "no table has had its update";
  EXPECT_THAT(worker->PushAll(Updates()).status().message(), HasSubstr("was pushed in iteration 0 already"));
  ASSERT_TRUE(worker->Clock().ok());
  ExpectValues(tables[0], 9.0F);
  ExpectValues(tables[1], 8.0F);
}

TEST_F(WorkerUpdatesTest, OneThatIsRefusedLeavesTheOthersAlone) {
  const std::vector<float> bad(4, std::numeric_limits<float>::infinity());
  std::vector<TablePush> updates = Updates();
  updates[0].gradient = bad;
  const Result<std::vector<Ticket>> tickets = worker->PushAll(updates);
  ASSERT_TRUE(tickets.ok()) << tickets.status().ToString();
  ASSERT_TRUE(worker->Clock().ok());
  EXPECT_FALSE(worker->Wait((*tickets)[0]).ok());
  EXPECT_TRUE(worker->Wait((*tickets)[1]).ok());
  ExpectValues(tables[0], 10.0F);
  ExpectValues(tables[1], 8.0F);
}

}  // namespace
}  // namespace leeway::testing
