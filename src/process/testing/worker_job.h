// WorkerJobTest: a job on loopback in this process, and one worker of it, for tests of leeway::Worker.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "leeway/worker.h"
#include "process/local_job.h"
#include "process/testing/quiet_log.h"

namespace leeway::testing {

class WorkerJobTest : public ::testing::Test {
 protected:
  void StartJob(JobOptions options = {}) {
    Result<std::unique_ptr<LocalJob>> started = LocalJob::Start(options, log);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    job = *std::move(started);
  }
  void Join(std::chrono::milliseconds wait_max = std::chrono::seconds(20)) {
    WorkerOptions options;
    options.scheduler = job->scheduler();
    options.link.secret = job->secret();
    options.wait_max = wait_max;
    Result<std::unique_ptr<Worker>> joined = Worker::Initialize(options);
    ASSERT_TRUE(joined.ok()) << joined.status().ToString() << log.Text();
    worker = *std::move(joined);
  }
  TableId MakeTable(const TableSpec& spec, const std::vector<float>& initial) {
    const Result<TableId> table = worker->CreateTable(spec);
    EXPECT_TRUE(table.ok()) << table.status().ToString();
    const Status started = worker->Start();
    EXPECT_TRUE(started.ok()) << started.ToString();
    const Status broadcast = worker->Broadcast(*table, initial);
    EXPECT_TRUE(broadcast.ok()) << broadcast.ToString();
    return *table;
  }

  QuietLog log;
  std::unique_ptr<LocalJob> job;
  std::unique_ptr<Worker> worker;  // after job: ends first
};

}  // namespace leeway::testing
