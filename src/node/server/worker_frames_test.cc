#include "node/server/worker_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "node/server/testing/hand_fed_blocks.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::Kind;

class WorkerFramesTest : public ::testing::Test {
 protected:
  template <typename Message>
  Status Deliver(Kind kind, const Message& message, const std::vector<float>& payload = {},
                 MemberKey from = LifeOf(0)) {
    std::vector<std::byte> body;
    wire::Encode(message, body);
    const FrameHead head{static_cast<std::uint8_t>(kind), static_cast<std::uint32_t>(body.size()),
                         payload.size() * sizeof(float)};
    Landing landing;
    if (!payload.empty()) {
      LW_ASSIGN_OR_RETURN(landing, frames.Land(from, head, body));
      std::span<const std::byte> left = std::as_bytes(std::span(payload));
      for (const std::span<std::byte> place : landing.places) {
        std::memcpy(place.data(), left.data(), place.size());
        left = left.subspan(place.size());
      }
      EXPECT_TRUE(left.empty());
    }
    return frames.Take(from, head, body, std::move(landing), takeover);
  }
  static wire::Push PushOf(const std::vector<std::uint32_t>& to) {
    wire::Push push;
    push.worker = WorkerId(0);
    push.incarnation = Incarnation(1);
    for (const std::uint32_t block : to) {
      push.entries.push_back({BlockId(block), Term(1), Seq(1), Version(1)});
      push.entries.back().SetWhole(2 * sizeof(float));
    }
    return push;
  }
  static wire::Pull PullOf(std::uint32_t block, std::int64_t progress) {
    return {WorkerId(0),
            Incarnation(1),
            Epoch(0),
            false,
            {{BlockId(block), Term(1), Iteration(progress), Version(0), 1.0F, Ask(7)}}};
  }
  void AddMembers(std::uint32_t n) {
    std::vector<MemberState> members;
    for (std::uint32_t i = 0; i < n; ++i) members.push_back({.key = LifeOf(i)});
    for (const auto& block : blocks.store.all()) block->OnMembers(Epoch(1), members, world.clock.now);
  }

  FakeEnv world;
  HandFedBlocks blocks{world};
  bool takeover = true;
  std::vector<std::string> events;
  std::vector<SentFrame> arrays;
  WorkerFrames frames{
      world.env,
      blocks.store,
      blocks.pool,
      24,
      0,
      {.heard =
           [this](const Block& block, Term, MemberKey from) {
             events.push_back(fmt::format("heard {} from {}", block.id().value(), from.worker.value()));
           },
       .delayed =
           [this](TableId table, MemberKey from, Iteration progress) {
             events.push_back(fmt::format("delayed table {} of {} at {}", table.value(), from.worker.value(),
                                          progress.value()));
           },
       .wants_newest =
           [this](MemberKey from, BlockId block, Ask ask) {
             events.push_back(
                 fmt::format("newest of {} for {}: {}", block.value(), from.worker.value(), ask.value()));
           },
       .moved =
           [this](MemberKey, const wire::VerdictEntry& verdict) {
             EXPECT_EQ(verdict.verdict, wire::Verdict::kMoved);
             events.push_back(fmt::format("moved {} push {}", verdict.block.value(), verdict.seq.value()));
           },
       .arrays =
           [this](MemberKey, std::span<const std::byte> body, std::span<const Pinned> payload) {
             SentFrame frame{{}, Kind::kArrays, {body.begin(), body.end()}, {}, {}};
             for (const Pinned& piece : payload) {
               frame.payload.insert(frame.payload.end(), piece.bytes.begin(), piece.bytes.end());
             }
             arrays.push_back(std::move(frame));
           }}};
};

TEST_F(WorkerFramesTest, InitialValuesAndGradientsReachTheirBlocks) {
  blocks.Make("asp", 2);
  AddMembers(1);
  wire::Init init{WorkerId(0), Incarnation(1), {}};
  for (const std::uint32_t block : {0U, 1U}) init.entries.push_back({BlockId(block), Term(1), 8});
  ASSERT_TRUE(Deliver(Kind::kInit, init, {1, 2, 3, 4}).ok());
  ASSERT_TRUE(Deliver(Kind::kPush, PushOf({0, 1}), {10, 20, 30, 40}).ok());
  EXPECT_THAT(blocks.Values(0), ElementsAre(11, 22));
  EXPECT_THAT(blocks.Values(1), ElementsAre(33, 44));
  EXPECT_THAT(events, ElementsAre("heard 0 from 0", "heard 1 from 0"));
}

TEST_F(WorkerFramesTest, AnAbsenceReachesItsBlockAndIsHeard) {
  blocks.Make("bsp", 1);
  blocks.Initialize();
  AddMembers(1);
  const wire::Absent absent{WorkerId(0), Incarnation(1), Iteration(0), {{BlockId(0), Term(1), Seq(1)}}};
  ASSERT_TRUE(Deliver(Kind::kAbsent, absent).ok());
  EXPECT_EQ(blocks.At(0).v_train(), Iteration(1));
  EXPECT_THAT(events, ElementsAre("heard 0 from 0"));
}

TEST_F(WorkerFramesTest, WithoutATakeoverNobodyIsHeard) {
  blocks.Make("bsp", 1);
  blocks.Initialize();
  AddMembers(1);
  takeover = false;
  ASSERT_TRUE(Deliver(Kind::kPush, PushOf({0}), {1, 2}).ok());
  EXPECT_EQ(blocks.At(0).v_train(), Iteration(1));
  wire::Absent absent{WorkerId(0), Incarnation(1), Iteration(1), {{BlockId(0), Term(1), Seq(2)}}};
  ASSERT_TRUE(Deliver(Kind::kAbsent, absent).ok());
  EXPECT_EQ(blocks.At(0).v_train(), Iteration(2));
  EXPECT_THAT(events, IsEmpty());
}

TEST_F(WorkerFramesTest, AssignedValuesReachTheirBlock) {
  blocks.Make("asp", 1);
  blocks.Initialize();
  AddMembers(1);
  const wire::Assign assign{
      WorkerId(0), Incarnation(1), {{BlockId(0), Term(1), Seq(1), Version(1), 0, 2 * sizeof(float), 0}}};
  ASSERT_TRUE(Deliver(Kind::kAssign, assign, {5, 6}).ok());
  EXPECT_THAT(blocks.Values(0), ElementsAre(5, 6));
}

TEST_F(WorkerFramesTest, EntriesForBlocksThatAreNotHereAreAnsweredAndCountedAsMoved) {
  blocks.Make("asp", 1);
  blocks.Initialize();
  AddMembers(1);
  ASSERT_TRUE(Deliver(Kind::kPush, PushOf({7, 0}), {1, 1, 2, 3}).ok());
  EXPECT_THAT(blocks.Values(0), ElementsAre(2, 3)) << "the entry after it counts";
  ASSERT_TRUE(Deliver(Kind::kPull, PullOf(8, 0)).ok());
  const wire::Read read{
      WorkerId(0), Incarnation(1), 1, wire::ReadWhat::kValues, {{BlockId(9), Term(1), Version(0)}}};
  ASSERT_TRUE(Deliver(Kind::kRead, read).ok());
  EXPECT_THAT(events, ElementsAre("moved 7 push 1", "heard 0 from 0", "moved 8 push 0", "moved 9 push 0"));
  EXPECT_EQ(frames.moved(), 3U);
  EXPECT_THAT(arrays, IsEmpty());
}

TEST_F(WorkerFramesTest, APullForTheNewestOnlySaysSo) {
  blocks.Make("asp", 1);
  blocks.Initialize();
  AddMembers(1);
  wire::Pull pull = PullOf(0, 4);
  ASSERT_TRUE(Deliver(Kind::kPull, pull).ok());
  EXPECT_THAT(events, ElementsAre());
  pull.flags = wire::Pull::kNewestOnly;
  ASSERT_TRUE(Deliver(Kind::kPull, pull).ok());
  EXPECT_THAT(events, ElementsAre("newest of 0 for 0: 7"));
}

TEST_F(WorkerFramesTest, APullThatABlockHoldsUpIsDelayedAndOneThatItAnswersIsNot) {
  blocks.Make("bsp", 1);
  blocks.Initialize();
  AddMembers(2);
  ASSERT_TRUE(Deliver(Kind::kPull, PullOf(0, -1)).ok());
  EXPECT_THAT(blocks.said, ElementsAre("block 0 to 0: version 1"));
  EXPECT_THAT(events, IsEmpty());
  ASSERT_TRUE(Deliver(Kind::kPull, PullOf(0, 0)).ok());
  EXPECT_THAT(events, ElementsAre("delayed table 0 of 0 at 0"));
}

TEST_F(WorkerFramesTest, AReadIsAnsweredWithTheValuesUnlessTheWorkerHasThem) {
  blocks.Make("asp", 2);
  blocks.Initialize();
  AddMembers(1);
  ASSERT_TRUE(Deliver(Kind::kPush, PushOf({1}), {3, 4}).ok());
  const wire::Read read{WorkerId(0),
                        Incarnation(1),
                        12,
                        wire::ReadWhat::kValues,
                        {{BlockId(0), Term(1), Version(1)}, {BlockId(1), Term(1), Version(1)}}};
  ASSERT_TRUE(Deliver(Kind::kRead, read).ok());
  ASSERT_EQ(arrays.size(), 1U);
  const auto answer = DecodeAs<wire::Arrays>(arrays[0]);
  EXPECT_EQ(answer.request, 12U);
  ASSERT_EQ(answer.entries.size(), 2U);
  EXPECT_EQ(answer.entries[0].arrays, 0) << "it holds version 1 of block 0";
  EXPECT_EQ(answer.entries[1].arrays, 1);
  EXPECT_THAT(arrays[0].floats(), ElementsAre(3, 4));
}

TEST_F(WorkerFramesTest, ArraysThatAnswerAReadShareAFrameUpToItsLimit) {
  blocks.Make("asp", 5);
  blocks.Initialize();
  wire::Read read{WorkerId(0), Incarnation(1), 1, wire::ReadWhat::kValues, {}};
  for (const std::uint32_t block : {0U, 1U, 2U, 3U, 4U}) {
    // The worker holds version 1 of block 2 already.
    read.entries.push_back({BlockId(block), Term(1), Version(block == 2 ? 1 : 0)});
  }
  ASSERT_TRUE(Deliver(Kind::kRead, read).ok());
  std::vector<std::string> sent;
  for (const SentFrame& frame : arrays) {
    sent.push_back(fmt::format("{} entries, {} bytes", DecodeAs<wire::Arrays>(frame).entries.size(),
                               frame.payload.size()));
  }
  EXPECT_THAT(sent, ElementsAre("4 entries, 24 bytes", "1 entries, 8 bytes"));
}

TEST_F(WorkerFramesTest, AnArrayAboveTheLimitHasAFrameOfItsOwn) {
  blocks.Make("asp", 2, TableClock::kJob, 20);
  blocks.Initialize();
  const wire::Read read{WorkerId(0),
                        Incarnation(1),
                        1,
                        wire::ReadWhat::kValues,
                        {{BlockId(0), Term(1), Version(0)}, {BlockId(1), Term(1), Version(0)}}};
  ASSERT_TRUE(Deliver(Kind::kRead, read).ok());
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[0].payload.size(), 80U);
}

TEST_F(WorkerFramesTest, AGradientWithoutMemoryIsRefusedCountedAndLogged) {
  blocks.Make("asp", 1);
  blocks.Initialize();
  AddMembers(1);
  *world.arena.bytes_left = 0;
  ASSERT_TRUE(Deliver(Kind::kPush, PushOf({0}), {1, 1}).ok());
  EXPECT_EQ(frames.no_memory(), 1U);
  EXPECT_THAT(blocks.said, ElementsAre("block 0 to 0: push 1 verdict 5"));
  EXPECT_THAT(world.log.lines,
              ElementsAre(HasSubstr("table \"w\" block 0: no memory for a push of 8 bytes")));
}

TEST_F(WorkerFramesTest, AFrameInTheNameOfAnotherWorkerBreaksTheProtocol) {
  blocks.Make("asp", 1);
  blocks.Initialize();
  EXPECT_THAT(Deliver(Kind::kPull, PullOf(0, 0), {}, LifeOf(1)).message(),
              HasSubstr("in the name of worker 0"));
  EXPECT_THAT(Deliver(Kind::kPush, PushOf({0}), {1, 1}, LifeOf(1)).message(),
              HasSubstr("in the name of worker 0"));
  EXPECT_THAT(blocks.said, IsEmpty());
}

TEST_F(WorkerFramesTest, ReservedKindsAreRefusedByName) {
  for (const Kind kind : {Kind::kNotify, Kind::kReSync, Kind::kPlan, Kind::kHandOver, Kind::kHeld,
                          Kind::kCommit, Kind::kProbe}) {
    EXPECT_THAT(WorkerFrames::CheckKind(kind).message(),
                HasSubstr(fmt::format("{} from a worker, wanted Init", wire::KindName(kind))));
  }
}

TEST_F(WorkerFramesTest, AWorkerThatGoesOnUnderANewTermIsAnsweredByItsBlock) {
  blocks.Make("bsp", 1);
  blocks.Initialize();
  AddMembers(1);
  ASSERT_TRUE(Deliver(Kind::kPush, PushOf({0}), {1, 1}).ok());
  blocks.said.clear();
  events.clear();
  const wire::Resume resume{WorkerId(0),
                            Incarnation(1),
                            {{BlockId(0), Term(1), Iteration(4)}, {BlockId(7), Term(1), Iteration(4)}}};
  ASSERT_TRUE(Deliver(Kind::kResume, resume).ok());
  EXPECT_THAT(blocks.said, ElementsAre("block 0 to 0: resumed after 1"));
  EXPECT_THAT(events, ElementsAre("heard 0 from 0", "moved 7 push 0"));
  EXPECT_EQ(blocks.At(0).v_train(), Iteration(4)) << "nobody waits for what was lost";
}

TEST_F(WorkerFramesTest, OnlyKindsThatBringValuesMayHaveAPayload) {
  EXPECT_THAT(Deliver(Kind::kPull, PullOf(0, 0), {1, 1}).message(), HasSubstr("with a payload of 8 bytes"));
  EXPECT_THAT(Deliver(Kind::kAnswers, wire::Answers{}).message(), HasSubstr("from a worker, wanted Init"));
}

}  // namespace
}  // namespace leeway::testing
