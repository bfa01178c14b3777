// The order in which a worker's frames may leave, and when its pulls do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/worker/testing/worker_rig.h"

namespace leeway {
namespace {

using testing::DecodeAs;
using ::testing::ElementsAre;
using testing::SentFrame;

class WorkerPriorityTest : public testing::WorkerRig {
 protected:
  // One iteration that uses w and then u, and gives both a gradient.
  void Iterate(std::int64_t iteration, std::uint64_t version) {
    std::optional<Status> used[2];
    node->Sync(w, Into(used[0]));
    node->Sync(u, Into(used[1]));
    ASSERT_TRUE(used[0].has_value() && used[1].has_value());
    ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
    ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
    for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}})
      Answer(static_cast<std::size_t>(on), block, iteration, version, {2, 2});
    ASSERT_TRUE(w_pair.Take() && u_pair.Take());
  }
};

TEST_F(WorkerPriorityTest, FramesHaveTheirTablesPlaceInTheOrderOfFirstUse) {
  StartTables();
  Iterate(0, 2);
  env.transport.sent.clear();
  ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  const std::vector<SentFrame> sent = env.transport.TakeSent(shard[0]);
  std::vector<std::string> lines;
  for (const SentFrame& frame : sent) {
    EXPECT_EQ(frame.order,
              frame.kind == wire::Kind::kPush ? FrameOrder::Kind::kByPriority : FrameOrder::Kind::kVerdicts);
    lines.push_back(
        fmt::format("{} p{} b{}", wire::KindName(frame.kind), frame.priority, frame.blocks.at(0).value()));
    EXPECT_EQ(frame.blocks.size(), 1U);
  }
  EXPECT_THAT(lines, ElementsAre("Push p255 b2", "Pull p255 b2", "Push p0 b0", "Pull p0 b0"));
  const auto pull = DecodeAs<wire::Pull>(sent[1]);
  EXPECT_EQ(pull.flags, wire::Pull::kByPriority);
  EXPECT_EQ(pull.entries[0].priority, 255);
}

TEST_F(WorkerPriorityTest, WithoutPrioritiesFramesKeepTheirPlaces) {
  job.set_no_priorities(true);
  StartTables();
  Iterate(0, 2);
  for (const SentFrame& frame : env.transport.sent) {
    if (frame.to == scheduler) continue;
    EXPECT_EQ(frame.order, FrameOrder::Kind::kInOrder);
    if (frame.kind != wire::Kind::kPull) continue;
    EXPECT_EQ(DecodeAs<wire::Pull>(frame).flags, 0);
  }
}

TEST_F(WorkerPriorityTest, PullsMayAllLeaveAtTheClock) {
  job.set_pull_at_clock(true);
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:1"));
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_THAT(Sent(0), ElementsAre("Absent 2:1", "Pull 2@0,0@0"));
  EXPECT_THAT(Sent(1), ElementsAre("Push 1:1", "Pull 1@0"));
}

}  // namespace
}  // namespace leeway
