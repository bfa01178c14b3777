#include "status/status_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "status/who_waits.h"
#include "status/worker_now.h"

namespace leeway::app {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

// Three workers under ssp: w0 and w1 wait for w2, which computes.
std::string WaitingJobJson() {
  return R"({"job":"train","phase":"running","uptime_s":67,"training_s":50,
    "pools":[{"name":"p","batches":200,"done":86}],
    "workers":[
      {"rank":0,"state":"joined","iteration":812,"report_age_s":0.4,"waiting_for":"table \"fc\" block 2 on server 1",
       "now":{"waits_on":"values","waiting_s":0.84,"name":"fc","server":1},
       "figures":{"samples":40000,"compute_s":33,"wait_s":10,"wait.worker.2":9,"wait.server.1":10,"wait.table.fc":10}},
      {"rank":1,"state":"joined","iteration":812,"now":{"waits_on":"values","waiting_s":0.5,"name":"fc","server":1},
       "figures":{"samples":40000,"compute_s":33,"wait_s":12}},
      {"rank":2,"state":"joined","iteration":809,"now":{"computing_s":0.21},
       "figures":{"samples":8000,"compute_s":130}}],
    "shards":[{"shard":0,"server":0,"state":"up","figures":{"staleness_sum":30,"staleness_gradients":10,"staleness.1":5,
       "staleness.2":4,"staleness.17":1,"staleness_sum.2":17,"staleness_gradients.2":1}},
      {"shard":1,"server":1,"state":"up","figures":{}}],
    "tables":[
      {"name":"conv","servers":[{"server":0,"sync":"ssp:3","v_train":809,"v_train_max":809,"dpr":2}]},
      {"name":"fc","servers":[{"server":0,"sync":"ssp:3","v_train":809,"v_train_max":809,"dpr":40},
        {"server":1,"sync":"ssp:3","v_train":808,"v_train_max":809,"dpr":41,"waiting":2,"missing":[0,2]}]}]})";
}

JobStatus ParsedStatus(const std::string& json) {
  Result<JobStatus> status = ParseJobStatus(json);
  EXPECT_TRUE(status.ok()) << status.status().ToString();
  return *status;
}

std::vector<std::string> LinesIn(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(StatusTextTest, TheJobItsWorkersAndItsTables) {
  EXPECT_EQ(StatusText(ParsedStatus(WaitingJobJson())),
            R"(Job "train": running for 1:07, 43 % done, 1:06 left
  1760 samples/s, staleness 3.0 (p95 17), slowest w2 4.0x
  waiting: w0, w1 for w2

  worker  step  samples/s  s/step  wait %  stale  now
  ------------------------------------------------------------------------------
  w0       812        800   0.041    20 %      -  waits for w2, 0.8 s (fc on s1)
  w1       812        800   0.041    24 %      -  waits for w2, 0.5 s (fc on s1)
  w2       809        160   0.161     0 %   17.0  computes, 0.2 s

  table  server  model  v_train  DPRs  waited s
  ---------------------------------------------
  conv       s0  ssp:3      809     2       0.0
  fc       s0-1  ssp:3    808+1    81      10.0

  account of the job
  ------------------------------------------------------------------------
  waited for          w2 9.0 s, servers and network 1.0 s
    by server         s1 10.0 s
    by table          fc 10.0 s
  staleness           mean 3.0, p95 17 versions, of 10 gradients of blocks
)");
}

TEST(StatusTextTest, AJobThatGathersTellsHowManyWorkersHaveJoined) {
  const std::string json =
      R"({"job":"j","phase":"gathering","uptime_s":18,"workers":[{"rank":1,"state":"joined"}]})";
  EXPECT_THAT(StatusText(ParsedStatus(json)),
              HasSubstr("gathering for 0:18\n  joined so far: 1 worker, 0 servers\n"));
  const std::string wanted =
      R"({"job":"j","phase":"gathering","wanted":{"workers":3,"servers":1},"workers":[{"state":"joined"}],
          "shards":[{"server":0,"shard":0,"state":"up"},{"server":0,"shard":1,"state":"up"}]})";
  EXPECT_THAT(StatusText(ParsedStatus(wanted)),
              HasSubstr("\n  joined so far: 1 of 3 workers, 1 of 1 server\n"));
}

TEST(StatusTextTest, NoLineIsLongerThanATerminalWhateverNamesAre) {
  JobStatus status = ParsedStatus(WaitingJobJson());
  const std::string name = "model.decoder.layers.11.self_attention.query_projection.weight";
  for (WorkerStatus& worker : status.workers) {
    worker.now.name = name;
    worker.figures["wait.table." + name] = 5;
  }
  status.tables[1].name = name;
  for (TableStatus& table : status.tables) {
    for (TableOnServer& row : table.servers) row.v_train_max = (row.v_train = 123'456) + 12;
  }
  status.tables[1].servers[1].dpr = 123'456;
  status.tables[1].servers[1].sync = "when:pull=\"progress < v_train + s\",push=\"count >= workers\",s=2";
  status.rules = {
      "tables=model.decoder.* server=1 sync=when:pull=\"progress < v_train\",push=\"count >= 1\""};
  status.checkpoints = {.folder = "/c",
                        .completed = 3,
                        .last = 3,
                        .last_iteration = 90,
                        .last_folder = "/data/checkpoints/checkpoint-00000004"};
  status.job = std::string(60, 'j');
  EXPECT_THAT(LinesIn(StatusText(status)), Each(SizeIs(Le(80U)))) << StatusText(status);
  Progress progress(3);
  progress.Add(status, 0);
  EXPECT_THAT(LinesIn(WatchText(status, progress, 23)), Each(SizeIs(Le(80U))));
  EXPECT_THAT(LinesIn(WhoWaitsText(status)), Each(SizeIs(Le(80U)))) << WhoWaitsText(status);
}

TEST(WatchTextTest, ALargeJobFitsTheScreenAndTheOneThatIsWaitedForIsOnIt) {
  JobStatus status = ParsedStatus(WaitingJobJson());
  while (status.workers.size() < 100) {
    status.workers.push_back(status.workers[0]);
    status.workers.back().rank = static_cast<std::uint32_t>(status.workers.size() - 1);
  }
  std::swap(status.workers[2], status.workers[99]);
  while (status.tables.size() < 60) {
    status.tables.push_back(status.tables[0]);
    status.tables.back().name = "table" + std::to_string(status.tables.size());
  }
  Progress progress(100);
  progress.Add(status, 0);
  for (const std::size_t rows : {10U, 23U, 50U}) {
    const std::string text = WatchText(status, progress, rows);
    EXPECT_THAT(LinesIn(text), SizeIs(Le(rows))) << text;
    EXPECT_THAT(text, HasSubstr("computes, 0.2 s")) << rows;
    EXPECT_THAT(text, HasSubstr("more workers")) << rows;
  }
  const std::string text = WatchText(status, progress, 23);
  EXPECT_THAT(text, HasSubstr("\n  fc ")) << "its waits are the longest";
  EXPECT_THAT(text, HasSubstr("more tables"));
}

TEST(WatchTextTest, WhatFitsIsShownWhole) {
  const JobStatus status = ParsedStatus(WaitingJobJson());
  Progress progress(3);
  progress.Add(status, 0);
  const std::string text = WatchText(status, progress, 23);
  EXPECT_THAT(text, Not(HasSubstr("more")));
  EXPECT_THAT(text, HasSubstr("\n  conv "));
  EXPECT_THAT(text, HasSubstr("waits for w2, 0.8 s (fc on"));
}

TEST(WorkerNowTest, AServersOldWordAboutAWorkerThatHasGoneOnDoesNotCount) {
  JobStatus status = ParsedStatus(WaitingJobJson());
  EXPECT_EQ(WhoWaitsForWhom(status), "w0, w1 for w2") << "w0 itself was missing at 808, and is at 812";
  status.workers[2].iteration = 812;
  EXPECT_EQ(WhoWaitsForWhom(status), "w0, w1 for s1") << "whoever it was, it has sent";
  status.workers[2].now = {.waiting_s = 0.2, .waits_on = "values", .name = "conv", .server = 0};
  EXPECT_EQ(WhoWaitsForWhom(status), "w0, w1 for s1; w2 for s0");
}

TEST(WorkerNowTest, EveryKindOfWaitHasItsWords) {
  JobStatus status = ParsedStatus(WaitingJobJson());
  WorkerStatus& worker = status.workers[0];
  const auto says = [&](WorkerNow now, const std::string& state = "joined") {
    worker.now = std::move(now);
    worker.state = state;
    return DoesNow(status, worker);
  };
  status.workers[1].now = {.waits_on = "barrier", .name = "epoch"};
  EXPECT_EQ(says({.waiting_s = 2, .waits_on = "barrier", .name = "epoch"}),
            "waits for w2, 2.0 s (barrier epoch)");
  EXPECT_EQ(says({.waiting_s = 0.3, .waits_on = "batches"}), "waits for batches, 0.3 s");
  EXPECT_EQ(says({.waiting_s = 5, .waits_on = "members", .ranks = {1, 2}}, "left"),
            "waits for w1, w2, 5.0 s (to leave)");
  EXPECT_EQ(says({.computing_s = 3, .waiting_s = 0.2, .waits_on = "verdict", .name = "fc", .server = 0}),
            "computes, 3.0 s");
  EXPECT_EQ(says({.waiting_s = 4, .waits_on = "verdict", .name = "fc", .server = 0}),
            "waits for s0, 4.0 s (fc on s0)");
  EXPECT_EQ(says({.waiting_s = 2, .waits_on = "gathering"}), "waits for the job to begin, 2.0 s");
  EXPECT_EQ(says({.waiting_s = 2, .waits_on = "tables"}), "waits for the scheduler, 2.0 s");
  EXPECT_EQ(says({}, "left"), "left");
  EXPECT_EQ(says({}, "lost"), "lost");
  worker.silent_s = 4.2;
  EXPECT_EQ(says({.computing_s = 1}, "suspect"), "silent for 4.2 s; before: computes, 1.0 s");
  worker.report_age_s = 9;
  EXPECT_EQ(says({.computing_s = 1}), "computes, 1.0 s; said 9 s ago");
}

}  // namespace
}  // namespace leeway::app
