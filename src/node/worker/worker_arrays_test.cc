// Arrays that a worker sets and reads outside of any iteration.
#include <optional>
#include <vector>

#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkerArraysTest : public WorkerRig {
 protected:
  struct Outcome {
    Status status;
    TableState state;
  };
  void Read(TableId table, ArraysWanted wanted) {
    read.reset();
    node->ReadArrays(table, wanted, [this](const Status& status, TableState state) {
      EXPECT_FALSE(read.has_value()) << "called back twice";
      read = {status, std::move(state)};
    });
  }
  [[nodiscard]] std::uint64_t SentRead(std::size_t to) {
    const std::vector<SentFrame> frames = env.transport.TakeSent(shard[to], wire::Kind::kRead);
    EXPECT_EQ(frames.size(), 1U);
    return frames.empty() ? 0 : DecodeAs<wire::Read>(frames[0]).request;
  }
  [[nodiscard]] static wire::Arrays Arrays(std::uint64_t request, std::uint32_t block, std::uint8_t array,
                                           std::uint8_t arrays, std::size_t elements) {
    return {WorkerId(kRank),
            Incarnation(1),
            request,
            {{BlockId(block), Term(1), Version(3), 9, static_cast<std::uint32_t>(elements * sizeof(float)),
              array, arrays}}};
  }
  void Give(std::size_t on, std::uint64_t request, std::uint32_t block, std::uint8_t array,
            std::uint8_t arrays, const std::vector<float>& values = {}) {
    Deliver(on, wire::Kind::kArrays, Arrays(request, block, array, arrays, values.size()), values);
  }
  [[nodiscard]] wire::AssignEntry SentAssign(std::size_t to) {
    const std::vector<SentFrame> frames = env.transport.TakeSent(shard[to], wire::Kind::kAssign);
    EXPECT_EQ(frames.size(), 1U);
    return frames.empty() ? wire::AssignEntry{} : DecodeAs<wire::Assign>(frames[0]).entries.at(0);
  }
  std::optional<Outcome> read;
  std::optional<Status> set;
};

TEST_F(WorkerArraysTest, AStateIsPutTogetherFromAllShards) {
  StartTables();
  Read(w, ArraysWanted::kState);
  const std::uint64_t request = SentRead(0);
  EXPECT_EQ(SentRead(1), request);
  Give(0, request, 0, 1, 2, {1, 2});
  Give(0, request, 0, 2, 2, {5, 6});
  Give(1, request, 1, 1, 2, {3, 4});
  EXPECT_FALSE(read.has_value());
  Give(1, request, 1, 2, 2, {7, 8});
  ASSERT_TRUE(read.has_value() && read->status.ok());
  EXPECT_EQ(read->state.steps, 9U);
  EXPECT_THAT(read->state.arrays, ElementsAre(ElementsAre(1, 2, 3, 4), ElementsAre(5, 6, 7, 8)));
  Give(1, request, 1, 2, 2, {7, 8});  // said twice
}

TEST_F(WorkerArraysTest, WhatALostConnectionTookIsAskedForAgain) {
  StartTables();
  Read(w, ArraysWanted::kState);
  const std::uint64_t request = SentRead(0);
  Give(0, request, 0, 1, 2, {1, 2});
  Give(1, request, 1, 1, 2, {3, 4});
  Give(1, request, 1, 2, 2, {7, 8});
  Reconnect(0);
  EXPECT_EQ(SentRead(0), request);
  Give(0, request, 0, 1, 2, {1, 2});
  EXPECT_FALSE(read.has_value()) << "the array from before the loss does not count";
  Give(0, request, 0, 2, 2, {5, 6});
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(read->state.arrays, ElementsAre(ElementsAre(1, 2, 3, 4), ElementsAre(5, 6, 7, 8)));
}

TEST_F(WorkerArraysTest, ABlockThatHasNothingNewerStaysAsItIsInUse) {
  StartTables();
  Read(w, ArraysWanted::kNewerValues);
  const std::vector<SentFrame> sent = env.transport.TakeSent(shard[0], wire::Kind::kRead);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(DecodeAs<wire::Read>(sent[0]).entries.at(0).cached_version, Version(1));
  Give(0, 1, 0, 0, 1, {8, 9});
  Give(1, 1, 1, 0, 0);
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(read->state.arrays, ElementsAre(ElementsAre(8, 9, 1, 1)));
  Read(w, ArraysWanted::kNewerValues);
  Give(0, 2, 0, 0, 0);
  Give(1, 2, 1, 0, 0);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->state.arrays.empty()) << "nothing newer";
}

TEST_F(WorkerArraysTest, AServerThatSendsOtherArraysBreaksTheProtocol) {
  StartTables();
  Read(w, ArraysWanted::kState);
  const Status status = env.transport.DeliverData(shard[0], wire::Kind::kArrays, Arrays(1, 0, 3, 2, 2),
                                                  std::vector<float>{1, 2});
  EXPECT_EQ(status.code(), StatusCode::kProtocol) << status.ToString();
  env.Advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(failed->message(), HasSubstr("array 3 of 2"));
  ASSERT_TRUE(read.has_value()) << "nobody waits for ever";
  EXPECT_FALSE(read->status.ok());
}

TEST_F(WorkerArraysTest, AnAssignTakesItsPlaceAmongThePushesAndIsSentAgain) {
  StartTables();
  const std::vector<float> values{1, 2, 3, 4};
  node->Assign(w, {.array = 0, .steps = 0}, Lend(values), Into(set));
  const wire::AssignEntry entry = SentAssign(0);
  EXPECT_EQ(entry.seq, Seq(1));
  EXPECT_EQ(entry.base_version, Version(1));
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:2", "Pull 0@0"));
  Verdict(1, 1, 1, wire::Verdict::kApplied);
  Reconnect(0);
  EXPECT_EQ(SentAssign(0).seq, Seq(1));
  EXPECT_FALSE(set.has_value());
  Verdict(0, 0, 1, wire::Verdict::kApplied);
  ASSERT_TRUE(set.has_value() && set->ok());
  EXPECT_EQ(node->counters().applied, 0U) << "no gradient was";
}

TEST_F(WorkerArraysTest, ABlockThatHasGoneOnIsAnErrorThatSaysWhatToDo) {
  StartTables();
  const std::vector<float> values{1, 2, 3, 4};
  node->Assign(w, {}, Lend(values), Into(set));
  Verdict(0, 0, 1, wire::Verdict::kApplied);
  Verdict(1, 1, 1, wire::Verdict::kLateDropped);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(set->message(), HasSubstr("1 of 2 blocks have gone on"));
  set.reset();
  node->Assign(c, {}, Lend(std::vector<float>{1, 2}), Into(set));
  EXPECT_THAT(set->message(), HasSubstr("a clock of its own"));
}

TEST_F(WorkerArraysTest, ATableIsSetBetweenTwoIterations) {
  StartTables();
  const std::vector<float> values{1, 2, 3, 4};
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  env.transport.sent.clear();
  node->Assign(w, {}, Lend(values), Into(set));
  ASSERT_TRUE(set.has_value()) << "a server that takes this worker back would wait for iteration 0 for ever";
  EXPECT_EQ(set->code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(set->message(), HasSubstr("has pushed its gradient of iteration 0"));
  EXPECT_TRUE(env.transport.TakeSent(shard[0], wire::Kind::kAssign).empty());
  set.reset();
  ASSERT_TRUE(node->Clock().ok());
  env.transport.sent.clear();
  node->Assign(w, {}, Lend(values), Into(set));
  EXPECT_EQ(SentAssign(0).seq, Seq(2));
  EXPECT_FALSE(set.has_value());
}

TEST_F(WorkerArraysTest, AFinishedWorkerDoesNotWaitForAServerThatIsGone) {
  StartTables();
  node->Leave({});
  Left(2);
  node->Finish({});
  SendRoster(3, {{0, true}, {kRank, true}});
  for (const auto& [on, block] : {std::pair(0, 0U), {0, 2U}, {1, 1U}})
    Answer(static_cast<std::size_t>(on), block, 1, 9, {7, 7});
  Answer(1, 3, 0, 4, {6, 6});
  Read(w, ArraysWanted::kState);
  EXPECT_EQ(SentRead(0), 1U);
  (void)env.transport.Lose(shard[0]);
  env.Advance(std::chrono::minutes(5));
  ASSERT_TRUE(read.has_value()) << "shard 0 does not come back";
  EXPECT_EQ(read->status.code(), StatusCode::kUnavailable) << read->status.ToString();
  EXPECT_FALSE(failed.has_value()) << "it has all that it needs";
  Read(w, ArraysWanted::kState);
  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(read->status.ok());
}

TEST_F(WorkerArraysTest, AReadOfMoreBlocksThanAFrameHoldsIsSentInSeveral) {
  JoinJob();
  constexpr std::uint32_t kBlocks = wire::kEntriesMax + 1;
  ParameterPair pair{kBlocks, nullptr, nullptr};
  const TableId many = *node->CreateTable({.name = "many", .shape = {kBlocks}}, pair);
  wire::pb::TableMap map;
  map.set_request(1);
  wire::pb::Table* table = map.add_tables();
  table->set_name("many");
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    wire::pb::Block* block = table->add_blocks();
    block->set_block(i);
    block->set_term(1);
    block->set_since(1);
    block->set_offset(i);
    block->set_elements(1);
  }
  std::optional<Status> placed;
  node->Start(Into(placed));
  Control(scheduler, wire::Kind::kTableMap, map);
  ASSERT_TRUE(placed.has_value() && placed->ok());
  env.transport.sent.clear();
  Read(many, ArraysWanted::kValues);
  const std::vector<SentFrame> frames = env.transport.TakeSent(shard[0], wire::Kind::kRead);
  ASSERT_EQ(frames.size(), 2U) << "the server cuts off a worker that sends too many entries";
  const auto first = DecodeAs<wire::Read>(frames[0]), second = DecodeAs<wire::Read>(frames[1]);
  EXPECT_EQ(first.entries.size(), wire::kEntriesMax);
  EXPECT_EQ(second.entries.size(), 1U);
  EXPECT_EQ(first.request, second.request);
  node.reset();
}

TEST_F(WorkerArraysTest, AnArrayThatComesTwiceCountsOnce) {
  StartTables();
  Read(u, ArraysWanted::kState);
  const std::uint64_t request = SentRead(0);
  Give(0, request, 2, 1, 2, {1, 2});
  Give(0, request, 2, 1, 2, {1, 2});
  EXPECT_FALSE(read.has_value()) << "array 2 is missing";
  Give(0, request, 2, 2, 2, {5, 6});
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(read->state.arrays, ElementsAre(ElementsAre(1, 2), ElementsAre(5, 6)));
}

TEST_F(WorkerArraysTest, AnAssignThatAServerLosesIsNoLostPush) {
  StartTables();
  const std::vector<float> values{1, 2};
  node->Assign(u, {}, Lend(values), {});
  Verdict(0, 2, 1, wire::Verdict::kApplied);
  ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
  Verdict(0, 2, 2, wire::Verdict::kSummed);
  ASSERT_EQ(node->counters().pushes, 1U);
  env.transport.sent.clear();
  Verdict(0, 2, 0, wire::Verdict::kMoved, 2);
  env.Advance(std::chrono::seconds(1));
  const std::vector<SentFrame> asked = env.transport.TakeSent(scheduler, wire::Kind::kDefineTables);
  ASSERT_EQ(asked.size(), 1U);
  wire::pb::TableMap map;
  map.set_request(ParseAs<wire::pb::DefineTables>(asked[0]).request());
  *map.add_tables() = Map(1).tables(1);
  map.mutable_tables(0)->mutable_blocks(0)->set_term(2);
  map.mutable_tables(0)->mutable_blocks(0)->set_since(2);
  Control(scheduler, wire::Kind::kTableMap, map);
  Resumed(0, 2, 0, 2);
  EXPECT_EQ(node->counters().lost, 1U) << "the gradient, of one push";
  EXPECT_THAT(env.log.lines.back(), HasSubstr("lost 1 push and 1 array of"));
}

}  // namespace
}  // namespace leeway::testing
