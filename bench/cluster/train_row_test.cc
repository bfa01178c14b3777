#include "bench/cluster/train_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::bench {
namespace {

using ::testing::HasSubstr;

JobOptions UsualJob() {
  JobOptions job;
  job.workers = job.servers = 4;
  job.sync = "dssp:1,3";
  return job;
}

std::string RowsError(const std::string& text) {
  const auto rows = ParseTrainRows(text, UsualJob());
  EXPECT_FALSE(rows.ok()) << text;
  return rows.status().message();
}

TEST(TrainRowTest, RowsChangeTheUsualJob) {
  const auto rows = ParseTrainRows(
      "traditional; wait-free;wait-free  sync=ssp:5,release=soft exchange=when_stale:5 machines=2;"
      "wait-free servers=1 placement=eps pull=partial:0.1,20 apply=immediate priorities=off pull_at=clock "
      "cut=4",
      UsualJob());
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ(rows->size(), 5U);
  EXPECT_EQ((*rows)[0].pass, TrainPass::kAlone);
  EXPECT_EQ((*rows)[0].job.workers, 1U);
  EXPECT_EQ((*rows)[1].pass, TrainPass::kTraditional);
  EXPECT_FALSE((*rows)[1].job.overlap);
  EXPECT_EQ((*rows)[1].job.sync, "dssp:1,3");
  EXPECT_EQ((*rows)[2].pass, TrainPass::kWaitFree);
  EXPECT_TRUE((*rows)[2].job.overlap);
  EXPECT_EQ((*rows)[2].job.workers, 4U);
  EXPECT_EQ((*rows)[3].text, "wait-free sync=ssp:5,release=soft exchange=when_stale:5 machines=2");
  EXPECT_EQ((*rows)[3].job.sync, "ssp:5,release=soft");
  EXPECT_EQ((*rows)[3].job.exchange, "when_stale:5");
  EXPECT_EQ((*rows)[3].job.workers, 2U);
  EXPECT_EQ((*rows)[3].job.servers, 2U);
  EXPECT_EQ((*rows)[4].job.workers, 4U);
  EXPECT_EQ((*rows)[4].job.servers, 1U);
  EXPECT_EQ((*rows)[4].job.placement, "eps");
  EXPECT_EQ((*rows)[4].job.pull, "partial:0.1,20");
  EXPECT_EQ((*rows)[4].job.apply, "immediate");
  EXPECT_TRUE((*rows)[3].job.priorities);
  EXPECT_FALSE((*rows)[4].job.priorities);
  EXPECT_EQ((*rows)[4].job.pull_at, "clock");
  EXPECT_EQ((*rows)[3].cut, 1U);
  EXPECT_EQ((*rows)[4].cut, 4U);
}

TEST(TrainRowTest, OneMachineAloneIsThereOnce) {
  EXPECT_EQ(ParseTrainRows("alone;wait-free", UsualJob())->size(), 2U);
  EXPECT_EQ(ParseTrainRows("alone", UsualJob())->size(), 1U);
}

TEST(TrainRowTest, AWrongWordIsNamed) {
  EXPECT_THAT(RowsError("wait-fre"),
              HasSubstr("got \"wait-fre\", wanted one of alone, traditional, wait-free "
                        "first (did you mean \"wait-free\"?)"));
  EXPECT_THAT(RowsError("wait-free;"), HasSubstr("row \"\": got \"\""));
  EXPECT_THAT(RowsError("wait-free synk=bsp"), HasSubstr("got \"synk=bsp\", wanted sync=VALUE, "));
  EXPECT_THAT(RowsError("wait-free bsp"), HasSubstr("got \"bsp\""));
  EXPECT_THAT(RowsError("alone sync=bsp"), HasSubstr("wanted nothing after \"alone\""));
  EXPECT_THAT(RowsError("wait-free;wait-free"), HasSubstr("got it twice"));
  for (const char* row : {"wait-free machines=5", "wait-free machines=0", "wait-free servers=x"})
    EXPECT_THAT(RowsError(row), HasSubstr("wanted a number from 1 to 4"));
  EXPECT_THAT(RowsError("wait-free cut=65"), HasSubstr("wanted a number of parts from 1 to 64"));
  EXPECT_THAT(RowsError("wait-free priorities=no"), HasSubstr("wanted priorities=on or priorities=off"));
}

}  // namespace
}  // namespace leeway::bench
