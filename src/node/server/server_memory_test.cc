// A shard that runs out of memory; and no peer makes a shard take more memory than the peer sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/server/testing/hand_fed_server.h"

namespace leeway {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ParseAs;
using wire::Kind;

class ServerMemoryTest : public testing::HandFedServer {
 protected:
  // The acknowledgements since the last call.
  std::vector<wire::pb::EpochAck> Acks() {
    std::vector<wire::pb::EpochAck> acks;
    for (const testing::SentFrame& frame : world.transport.TakeSent(scheduler, Kind::kEpochAck))
      acks.push_back(ParseAs<wire::pb::EpochAck>(frame));
    return acks;
  }
  bool Logged(const std::string& words) {
    return std::ranges::any_of(
        world.log.lines, [&](const std::string& line) { return line.find(words) != std::string::npos; });
  }
  std::uint64_t& bytes_left() { return *world.arena.bytes_left; }
};

TEST_F(ServerMemoryTest, ATableThatDoesNotFitIsRefusedAndTheShardServesOn) {
  SendRoster(1, 1);
  bytes_left() = 6000;
  SendMap(Map("asp", 4, 1000));  // two blocks of 4000 bytes are for this shard
  EXPECT_TRUE(ended.empty());
  std::vector<wire::pb::EpochAck> acks = Acks();
  ASSERT_EQ(acks.size(), 2U) << "the roster, the map";
  ASSERT_EQ(acks[1].refused_size(), 1);
  EXPECT_EQ(acks[1].epoch(), 2U);
  EXPECT_EQ(acks[1].refused(0).table(), 0U);
  EXPECT_THAT(acks[1].refused(0).error(), AllOf(HasSubstr("table \"w\""), HasSubstr("8000 bytes"),
                                                HasSubstr("start more servers"), HasSubstr("ulimit -v")));
  EXPECT_TRUE(Logged("8000 bytes"));
  EXPECT_EQ(node->FindBlock(BlockId(1)), nullptr) << "not even the first of the two";

  wire::pb::TableMap withdrawn;
  withdrawn.set_epoch(3);
  withdrawn.set_tables_kept(0);
  SendMap(withdrawn);
  wire::pb::TableMap small = Map("asp", 4, 2);
  small.set_epoch(4);
  SendMap(small);
  acks = Acks();
  ASSERT_EQ(acks.size(), 2U);
  EXPECT_EQ(acks[0].refused_size() + acks[1].refused_size(), 0);
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {1, 2}).ok());
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:0:initialized", "1:1:applied"));
  EXPECT_THAT(Values(1), ElementsAre(1, 2));
}

TEST_F(ServerMemoryTest, MemoryForTheOptimizersStateCountsToo) {
  SendRoster(1, 1);
  bytes_left() = 20;  // the values of two blocks of 8 bytes, and not their two arrays of Adam's
  SendMap(Map("asp", 4, 2, "adam"));
  ASSERT_EQ(Acks().at(1).refused_size(), 1);
}

TEST_F(ServerMemoryTest, OtherTablesOfTheSameMapAreMade) {
  SendRoster(1, 1);
  bytes_left() = 1000;
  wire::pb::TableMap map = Map("asp", 4, 1000);
  wire::pb::Table& second = *map.add_tables();
  second = Map("asp", 4, 2).tables(0);
  second.set_id(1);
  second.set_name("v");
  for (wire::pb::Block& block : *second.mutable_blocks()) block.set_block(block.block() + 4);
  SendMap(map);
  const std::vector<wire::pb::EpochAck> acks = Acks();
  ASSERT_EQ(acks.at(1).refused_size(), 1);
  EXPECT_EQ(node->FindBlock(BlockId(1)), nullptr);
  EXPECT_NE(node->FindBlock(BlockId(5)), nullptr);
}

TEST_F(ServerMemoryTest, WithdrawnTablesGiveTheirMemoryBack) {
  SendRoster(1, 1);
  SendMap(Map("asp", 4, 2));
  ASSERT_NE(node->FindBlock(BlockId(1)), nullptr);
  wire::pb::TableMap withdrawn;
  withdrawn.set_epoch(3);
  withdrawn.set_tables_kept(0);
  SendMap(withdrawn);
  EXPECT_EQ(node->FindBlock(BlockId(1)), nullptr);
  wire::pb::TableMap other = Map("bsp", 4, 3);  // the same ids, another size
  other.set_epoch(4);
  SendMap(other);
  EXPECT_TRUE(ended.empty());
  EXPECT_EQ(node->FindBlock(BlockId(1))->elements(), 3U);
}

TEST_F(ServerMemoryTest, APushWithoutMemoryIsRefusedOnceAndCountsAsAbsent) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0), w1 = HelloWorker(1);
  Init(w0, 0, 1, {0, 0});
  (void)Verdicts(w0);
  bytes_left() = 0;  // the pool has enough for one gradient and the step
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {2, 4}).ok());
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:1:summed"));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Push(w1, 1, 0, {Entry(1, 1, 2)}, {100, 100}).ok());
    EXPECT_THAT(Verdicts(w1), ElementsAre("1:1:refused")) << "the same verdict when it comes again";
  }
  EXPECT_EQ(node->counters().refused, 1U);
  EXPECT_EQ(node->counters().advances, 1U) << "nobody waits for it";
  EXPECT_THAT(Values(1), ElementsAre(2, 4)) << "of the gradient that came alone";
  EXPECT_TRUE(Logged("no memory for a push of 8 bytes"));
  bytes_left() = 1000;
  ASSERT_TRUE(Push(w1, 1, 1, {Entry(1, 2, 2)}, {2, 2}).ok());
  EXPECT_THAT(Verdicts(w1), ElementsAre("1:2:summed")) << "the next one counts again";
}

TEST_F(ServerMemoryTest, BytesForABlockThatIsNotHereTakeNoMemory) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {0, 0});
  (void)Verdicts(w0);
  const std::uint64_t before = bytes_left();
  std::vector<float> payload(1 << 20, 7.0F);
  payload[0] = 5.0F;
  payload[1] = 6.0F;
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2), Entry(2, 1, payload.size() - 2)}, payload).ok());
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:1:applied", "2:1:moved"));
  EXPECT_THAT(Values(1), ElementsAre(5, 6));
  EXPECT_LE(before - bytes_left(), 100U) << "nothing of 4 MiB, also not as a spare of the pool";
}

TEST_F(ServerMemoryTest, AWorkerThatAsksForMoreThanItReadsIsCutOff) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {0, 0});
  world.transport.queued_bytes = options.link.unread_bytes_max + 2 * 16;  // two blocks of 8 bytes, twice
  ASSERT_TRUE(Pull(w0, 0, 0, {1}).ok());
  EXPECT_TRUE(world.transport.IsOpen(w0));
  ++world.transport.queued_bytes;
  ASSERT_TRUE(Pull(w0, 0, 0, {1}).ok());
  EXPECT_FALSE(world.transport.IsOpen(w0));
  EXPECT_THAT(GoodbyeTo(w0), HasSubstr("asks for more than it reads"));
}

TEST_F(ServerMemoryTest, FewWorkersThatTheRosterDoesNotKnowAreLetIn) {
  SendRoster(1, 2);
  for (std::uint32_t rank = 0; rank < 258; ++rank) {
    (void)HelloWorker(1000 + rank);
    ASSERT_EQ(welcome.error(), "") << rank;
  }
  (void)HelloWorker(5000);
  EXPECT_THAT(welcome.error(), HasSubstr("not in this shard's roster"));
  EXPECT_EQ(welcome.error_code(), static_cast<std::uint32_t>(StatusCode::kUnavailable)) << "it may ask again";
  (void)HelloWorker(1);
  EXPECT_EQ(welcome.error(), "") << "a member";
}

}  // namespace
}  // namespace leeway
