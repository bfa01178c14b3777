#include "status/overlap.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace leeway::app {
namespace {

JobStatus TwoWorkers() {
  JobStatus status;
  WorkerStatus first, second;
  first.rank = 0;
  first.figures = {{"overlap.communication_s", 8},  {"overlap.held_s", 1.5},
                   {"overlap.wire_s", 0.4},         {"overlap.queue_s", 0.1},
                   {"overlap.pushes", 300},         {"overlap.delay_s", 0.06},
                   {"overlap.slow_pushes", 5},      {"overlap.communication.fc.weight", 6},
                   {"overlap.held.fc.weight", 1.5}, {"overlap.wire.fc.weight", 0.2},
                   {"overlap.queue.fc.weight", 0},  {"overlap.communication.fc.bias", 6},
                   {"overlap.held.fc.bias", 0},     {"overlap.wire.fc.bias", 0.2},
                   {"overlap.queue.fc.bias", 0.1}};
  second.rank = 1;
  second.figures = {{"overlap.communication_s", 2}, {"overlap.held_s", 0}, {"overlap.pushes", 100}};
  status.workers = {first, second};
  return status;
}

TEST(OverlapTest, OneLineSaysTheShareAndTheCauses) {
  EXPECT_EQ(
      OverlapText(TwoWorkers()),
      "80 %: of 10.0 s of communication 2.0 s were waited for (held for other workers 1.5 s, wire 0.4 s, "
      "own queue 0.1 s)");
  EXPECT_EQ(OverlapByWorkerText(TwoWorkers()), "w0 75 %, w1 100 %");
  EXPECT_EQ(
      OverlapWaitsText(TwoWorkers()),
      "fc.weight 1.7 s (held for other workers 1.5 s, wire 0.2 s), fc.bias 0.3 s (wire 0.2 s, own queue "
      "0.1 s)");
  EXPECT_EQ(PushDelayText(TwoWorkers()),
            "left 0.15 ms after they were ready on average; 5 of 400 after more than 1 ms");
}

TEST(OverlapTest, AJobWithoutCommunicationHasNoLine) {
  EXPECT_EQ(OverlapText(JobStatus()), "");
  EXPECT_EQ(OverlapWaitsText(JobStatus()), "");
  EXPECT_EQ(PushDelayText(JobStatus()), "");
  EXPECT_FALSE(OverlapJson(JobStatus()).contains("overlap"));
}

TEST(OverlapTest, TheJsonHasItByWorkerAndByTable) {
  const nlohmann::json json = OverlapJson(TwoWorkers());
  EXPECT_DOUBLE_EQ(json["overlap"].get<double>(), 0.8);
  EXPECT_DOUBLE_EQ(json["waited_s"].get<double>(), 2);
  EXPECT_EQ(json["slow_pushes"], 5);
  EXPECT_DOUBLE_EQ(json["of_worker"]["0"].get<double>(), 0.75);
  EXPECT_DOUBLE_EQ(json["of_worker"]["1"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(json["of_table"]["fc.bias"]["overlap"].get<double>(), 0.95);
  EXPECT_DOUBLE_EQ(json["of_table"]["fc.weight"]["held_s"].get<double>(), 1.5);
}

}  // namespace
}  // namespace leeway::app
