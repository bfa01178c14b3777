// A job that begins from a checkpoint takes up the rules that were in force when it was written.
#include <algorithm>

#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SchedulerResumeRulesTest : public HandFedScheduler {
 protected:
  // Begins from a checkpoint of table "fc" with these rules in force.
  void Resume(std::vector<std::string> in_force) {
    Manifest manifest;
    manifest.checkpoint = 1;
    manifest.job = options.job;
    manifest.rules = std::move(in_force);
    manifest.iteration = Iteration(10);
    manifest.exact = manifest.consistent = true;
    manifest.incarnations.resize(2);
    manifest.begins.assign(2, manifest.iteration);
    manifest.files.push_back({ShardFileName(ShardId(0)), 1000, 5});
    ManifestTable& table = manifest.tables.emplace_back();
    table.spec.name = "fc";
    table.spec.shape = {4};
    table.spec.sync = saved.sync;
    table.spec.apply = saved.apply;
    table.spec.optimizer = saved.optimizer;
    table.blocks.push_back({0, 4, 0, {BlockId(0), 44, 100, Iteration(10), Term(1), 7}});
    const std::string text = WriteManifest(manifest);
    const auto bytes = std::as_bytes(std::span(text));
    world.storage.files["/c/checkpoint-00000001/manifest.json"].assign(bytes.begin(), bytes.end());
    options.checkpoint.resume = "/c/checkpoint-00000001";
    StartNode();
    Settle();
    ASSERT_THAT(ended, IsEmpty()) << ended[0].ToString();
  }
  // As Resume resumes the table.
  struct Specs {
    std::string sync = "bsp", apply = "aggregate", optimizer = "sgd";
  } saved;
  std::vector<std::string> Rules() { return State()["rules"].get<std::vector<std::string>>(); }
  // The synchronization that the shards hear of the table.
  std::string SyncOnGather() {
    w0 = HelloWorker(0, 100);
    w1 = HelloWorker(1, 101);
    s0 = HelloShard(0, 200);
    s1 = HelloShard(1, 201);
    const auto maps = Take<wire::pb::TableMap>(s0, Kind::kTableMap);
    return maps.empty() || maps[0].tables().empty() ? "no map" : maps[0].tables(0).sync();
  }
};

TEST_F(SchedulerResumeRulesTest, AJobThatNamesNoneTakesThemUpAndSaysSo) {
  Resume({"tables=fc* sync=ssp:2", "sync=asp"});
  EXPECT_THAT(Rules(), ElementsAre("tables=fc* sync=ssp:2", "sync=asp"));
  EXPECT_THAT(world.log.lines,
              Contains(HasSubstr("taken up: --rule 'tables=fc* sync=ssp:2' --rule 'sync=asp'")));
  EXPECT_EQ(SyncOnGather(), "asp");
}

TEST_F(SchedulerResumeRulesTest, AJobThatBeginsAsThatOneDidTakesUpWhatWasSetSince) {
  options.job.rules = {"sync=ssp:2"};
  Resume({"sync=ssp:2", "sync=asp"});
  EXPECT_THAT(Rules(), ElementsAre("sync=ssp:2", "sync=asp"));
  EXPECT_EQ(SyncOnGather(), "asp");
}

TEST_F(SchedulerResumeRulesTest, AJobWithOtherRulesHasThoseAloneAndIsToldWhatItLacks) {
  options.job.rules = {"sync=ssp:3"};
  Resume({"sync=ssp:2", "tables=fc* sync=when:pull=\"gap < 2\",push=\"count >= workers\""});
  EXPECT_THAT(Rules(), ElementsAre("sync=ssp:3"));
  EXPECT_THAT(world.log.lines,
              Contains(HasSubstr(
                  "lacks of them: --rule 'sync=ssp:2' --rule 'tables=fc* sync=when:pull=\"gap < 2\"")));
  EXPECT_EQ(SyncOnGather(), "ssp:3");
}

TEST_F(SchedulerResumeRulesTest, WhatThisJobCannotHaveIsLeftOutAndNamed) {
  Resume({"server=7 sync=ssp:2", "sync=drop:9", "tables=later* sync=asp", "sync=ssp:1"});
  EXPECT_THAT(Rules(), ElementsAre("tables=later* sync=asp", "sync=ssp:1"));
  EXPECT_THAT(world.log.lines, Contains(HasSubstr("server=7")));
  EXPECT_THAT(world.log.lines, Contains(HasSubstr("needs 9 workers")));
}

TEST_F(SchedulerResumeRulesTest, ASchedulerThatIsStartedAgainHasThemFromItsLog) {
  options.log_folder = "/logs";
  Resume({"sync=asp"});
  node.reset();
  StartNode();
  Settle();
  EXPECT_THAT(Rules(), ElementsAre("sync=asp"));
}

TEST_F(SchedulerResumeRulesTest, SpecsThatTheCheckpointSpellsOutAreShortAgain) {
  saved = {.sync = "ssp:s=3,release=soft,late=drop,scope=job",
           .apply = "aggregate:reduce=arrival,window=5",
           .optimizer = "rmsprop:centered=0,momentum=1"};
  Resume({});
  const nlohmann::json table = State()["tables"][0];
  EXPECT_EQ(table["sync"], "ssp:3,release=soft");
  EXPECT_EQ(table["apply"], "aggregate");
  EXPECT_EQ(table["optimizer"], "rmsprop:momentum=1");
}

TEST_F(SchedulerResumeRulesTest, AJobWithAnotherModelIsToldThatTheCheckpointHasOne) {
  options.job.sync = "asp";
  Resume({});
  SyncOnGather();
  Define(w0, 7, "fc", 4);
  const auto replies = Take<wire::pb::TableMap>(w0, Kind::kTableMap);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_THAT(replies[0].error(), HasSubstr("differs from the one in the checkpoint: sync: got \"asp"));
  EXPECT_THAT(replies[0].error(), HasSubstr("by a rule (--rule sync=SPEC)"));
}

}  // namespace
}  // namespace leeway::testing
