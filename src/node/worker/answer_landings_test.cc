#include "node/worker/answer_landings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/heap_arena.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;
using Use = AnswerLanding::Slot::Use;

// Block 0 of the job-clock table "w" and block 1 of the own-clock table "c", both on shard 0.
class AnswerLandingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    self.worker = WorkerId(1);
    self.incarnation = Incarnation(1);
    w = &Placed({.name = "w", .shape = {2}}, w_pair, 0);
    c = &Placed({.name = "c", .shape = {2}, .clock = TableClock::kOwn}, c_pair, 1);
  }
  WorkerTable& Placed(const TableSpec& spec, ParameterPair& pair, std::uint32_t id) {
    (void)*tables.Create(spec, pair);
    WorkerTable& table = *tables.TakeCreated().at(0);
    wire::pb::Table map;
    map.set_name(spec.name);
    wire::pb::Block* block = map.add_blocks();
    block->set_block(id);
    block->set_term(1);
    block->set_since(1);
    block->set_elements(2);
    EXPECT_TRUE(TableSet::Place(table, map, 1).ok());
    tables.Index(table);
    return table;
  }
  static wire::AnswerEntry Entry(std::uint32_t block, std::uint32_t ask = 1) {
    wire::AnswerEntry entry;
    entry.block = BlockId(block);
    entry.term = Term(1);
    entry.ask = Ask(ask);
    entry.version = Version(2);
    entry.SetWhole(8);
    return entry;
  }
  Result<Landing> Begin(const wire::AnswerEntry& entry) {
    wire::Answers answers;
    answers.worker = WorkerId(1);
    answers.incarnation = Incarnation(1);
    answers.entries.push_back(entry);
    std::vector<std::byte> body;
    wire::Encode(answers, body);
    return landings.Begin(self, ShardId(0), tables, body, entry.payload_bytes);
  }
  static Use UseOf(const Landing& landing) {
    return static_cast<AnswerLanding*>(landing.lease.get())->slots.at(0).use;
  }

  WorkerIdentity self;
  HeapArena arena;
  ParameterPair w_pair{2, nullptr, nullptr}, c_pair{2, nullptr, nullptr};
  TableSet tables{arena};
  AnswerLandings landings;
  WorkerTable *w = nullptr, *c = nullptr;
};

TEST_F(AnswerLandingsTest, AnAnswerThatIsWantedLandsInTheBackOfItsPair) {
  w->blocks[0].pull.Ask(Iteration(0), {});
  const Result<Landing> landing = Begin(Entry(0));
  ASSERT_TRUE(landing.ok()) << landing.status().ToString();
  EXPECT_EQ(UseOf(*landing), Use::kPair);
  EXPECT_EQ(static_cast<const void*>(landing->places.at(0).data()), w_pair.Back().data());
}

TEST_F(AnswerLandingsTest, AnOwnClockPullLandsInTheUsersMemory) {
  std::vector<float> into(2);
  c->into.push_back({into, Iteration(0), 1, Status::Ok(), {}});
  c->blocks[0].pull.Ask(Iteration(0), {});
  const Result<Landing> landing = Begin(Entry(1));
  ASSERT_TRUE(landing.ok()) << landing.status().ToString();
  EXPECT_EQ(UseOf(*landing), Use::kInto);
  EXPECT_EQ(static_cast<const void*>(landing->places.at(0).data()), into.data());
}

TEST_F(AnswerLandingsTest, AnAnswerThatNobodyWantsTouchesNoTable) {
  const Result<Landing> landing = Begin(Entry(0));
  ASSERT_TRUE(landing.ok());
  EXPECT_EQ(UseOf(*landing), Use::kNothing);
  EXPECT_NE(static_cast<const void*>(landing->places.at(0).data()), w_pair.Back().data());
}

TEST_F(AnswerLandingsTest, AnswersOfAnotherTermOrShardOrToNoQuestionAreNotWanted) {
  WorkerBlock& block = w->blocks[0];
  block.pull.Ask(Iteration(3), {});
  EXPECT_TRUE(AnswerLandings::IsWanted(ShardId(0), block, Entry(0)));
  EXPECT_FALSE(AnswerLandings::IsWanted(ShardId(1), block, Entry(0)));
  EXPECT_FALSE(AnswerLandings::IsWanted(ShardId(0), block, Entry(0, 2))) << "not asked for";
  block.drops_late = true;
  block.passed = Iteration(3);
  EXPECT_FALSE(AnswerLandings::IsWanted(ShardId(0), block, Entry(0))) << "too late";
  block.passed = Iteration(2);
  block.term = Term(2);
  EXPECT_FALSE(AnswerLandings::IsWanted(ShardId(0), block, Entry(0)));
}

TEST_F(AnswerLandingsTest, AFrameThatDoesNotFitIsAnError) {
  EXPECT_THAT(Begin(Entry(7)).status().message(), HasSubstr("block 7, which no table"));
  wire::AnswerEntry shorter = Entry(0);
  shorter.SetWhole(4);
  EXPECT_THAT(Begin(shorter).status().message(), HasSubstr("an answer of 4 bytes, wanted 8"));
  self.incarnation = Incarnation(2);
  EXPECT_THAT(Begin(Entry(0)).status().message(), HasSubstr("a frame for worker 1 incarnation 1, wanted"));
}

TEST_F(AnswerLandingsTest, AFrameThatHasEndedIsUsedAgain) {
  const void* first = nullptr;
  {
    const Result<Landing> landing = Begin(Entry(0));
    first = landing->lease.get();
    EXPECT_NE(Begin(Entry(0))->lease.get(), first) << "the first is under way";
  }
  EXPECT_EQ(Begin(Entry(0))->lease.get(), first);
}

}  // namespace
}  // namespace leeway
