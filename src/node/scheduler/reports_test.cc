#include "node/scheduler/reports.h"

#include <gtest/gtest.h>

#include <chrono>

namespace leeway {
namespace {

wire::pb::Report With(std::initializer_list<std::pair<std::string, double>> values) {
  wire::pb::Report report;
  for (const auto& [name, value] : values) (*report.mutable_values())[name] = value;
  return report;
}

TEST(ReportsTest, AReportTakesThePlaceOfTheOneBeforeIt) {
  NodeReport node;
  node.Take(With({{"pushes", 3}, {"waited_for.7", 2}, {"waited_for.others", 1}}), 100, {});
  // Worker 7 is among the others by now: it must not count twice.
  node.Take(With({{"pushes", 5}, {"waited_for.others", 4}}), 100, {});
  EXPECT_EQ(node.figures().Get("pushes"), 5);
  EXPECT_EQ(node.figures().Get("waited_for.7"), 0);
  EXPECT_EQ(node.figures().Get("waited_for.others"), 4);
}

TEST(ReportsTest, WhatALifeBeforeCountedIsAdded) {
  NodeReport node;
  node.Take(With({{"pushes", 3}, {"wait.server.1", 2}, {"blocks", 8}, {"waiting", 2}}), 100, {});
  node.Take(With({{"pushes", 1}, {"blocks", 8}, {"waiting", 0}}), 101, {});
  EXPECT_EQ(node.figures().Get("pushes"), 4);
  EXPECT_EQ(node.figures().Get("wait.server.1"), 2);
  EXPECT_EQ(node.figures().Get("blocks"), 8) << "how it stands, not what it did";
  EXPECT_EQ(node.figures().Get("waiting"), 0);
  node.Take(With({{"pushes", 2}}), 101, {});
  node.Take(With({{"pushes", 10}}), 102, {});
  EXPECT_EQ(node.figures().Get("pushes"), 15);
  EXPECT_EQ(node.figures().Get("wait.server.1"), 2);
}

TEST(ReportsTest, DelaysOfATableOutliveTheShardThatSawThem) {
  wire::pb::Report report;
  wire::pb::TableReport& row = *report.add_tables();
  row.set_table(4);
  row.set_dpr(7);
  row.set_waited_s(1.5);
  row.set_waiting(3);
  NodeReport node;
  node.Take(report, 100, {});
  row.set_dpr(2);
  row.set_waited_s(0.5);
  row.set_waiting(0);
  for (const std::uint64_t life : {101U, 101U, 102U}) node.Take(report, life, {});
  ASSERT_EQ(node.tables().size(), 1U);
  EXPECT_EQ(node.tables()[0].dpr(), 11U);
  EXPECT_DOUBLE_EQ(node.tables()[0].waited_s(), 2.5);
  EXPECT_EQ(node.tables()[0].waiting(), 0U);
}

TEST(ReportsTest, NoMoreRowsThanAShardSends) {
  wire::pb::Report report;
  for (int i = 0; i < NodeReport::kRowsMax + 5; ++i) report.add_tables();
  NodeReport node;
  node.Take(report, 100, {});
  EXPECT_EQ(node.tables().size(), static_cast<std::size_t>(NodeReport::kRowsMax));
}

TEST(ReportsTest, TheFastestWorkerMayBeOneOfTheTimeBeforeThisScheduler) {
  Reports reports;
  EXPECT_EQ(reports.Fastest(), Iteration(-1));
  wire::pb::Report report;
  for (const int iteration : {7, 5}) {
    report.set_iteration(iteration);
    reports.workers[WorkerId(static_cast<std::uint32_t>(iteration))].Take(report, 100, {});
  }
  EXPECT_EQ(reports.Fastest(), Iteration(7));
  reports.fastest_before = Iteration(9);
  EXPECT_EQ(reports.Fastest(), Iteration(9));
}

TEST(ReportsTest, TrainingLastsFromTheFirstStepOfAnyWorkerToTheLastOneThatEnded) {
  using std::chrono::seconds;
  const auto at = [](int s) { return TimePoint(seconds(1'000 + s)); };
  const auto moment = [](double training_s, double since_step_s) {
    wire::pb::Report report;
    report.mutable_moment()->set_training_s(training_s);
    report.mutable_moment()->set_since_step_s(since_step_s);
    return report;
  };
  Reports reports;
  EXPECT_EQ(reports.Training(), Duration(0));
  reports.workers[WorkerId(0)].Take(moment(2, 0), 100, at(12));
  EXPECT_EQ(reports.Training(), Duration(0)) << "no step has ended";
  reports.workers[WorkerId(0)].Take(moment(10, 1), 100, at(20));
  reports.workers[WorkerId(1)].Take(moment(5, 2), 101, at(30));
  EXPECT_EQ(reports.Training(), seconds(18)) << "from 10 s to 28 s";
  reports.workers[WorkerId(0)].Take(moment(40, 31), 100, at(50));
  EXPECT_EQ(reports.Training(), seconds(18)) << "time after the last step is no training";
  reports.workers[WorkerId(0)].Take(moment(1, 0.5), 102, at(60));
  EXPECT_EQ(reports.Training(), std::chrono::milliseconds(49'500)) << "another life goes on with it";
}

}  // namespace
}  // namespace leeway
