#include "wire/send_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace leeway::wire {
namespace {

using ::testing::ElementsAre;
using Kind = FrameOrder::Kind;

constexpr std::uint64_t kBytes = 1000;

class SendOrderTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, Kind kind, std::uint8_t priority = 0, std::vector<BlockId> blocks = {},
           std::uint64_t bytes = kBytes) {
    frames.Add(name, {kind, priority, blocks}, bytes);
  }
  std::vector<std::string> Rest() {
    std::vector<std::string> names;
    while (!frames.empty()) names.push_back(frames.TakeFirst());
    return names;
  }
  static std::vector<BlockId> Blocks(std::initializer_list<std::uint32_t> ids) {
    std::vector<BlockId> blocks;
    for (const std::uint32_t id : ids) blocks.emplace_back(id);
    return blocks;
  }

  OrderedFrames<std::string> frames;
};

TEST_F(SendOrderTest, ControlLeavesFirstThenVerdictsThenFramesByPriority) {
  Add("last layer", Kind::kByPriority, 9, Blocks({9}));
  Add("first layer", Kind::kByPriority, 0, Blocks({0}));
  Add("middle layer", Kind::kByPriority, 4, Blocks({4}));
  Add("verdicts", Kind::kVerdicts, 0, Blocks({1}));
  Add("ping", Kind::kControl);
  EXPECT_THAT(Rest(), ElementsAre("ping", "verdicts", "first layer", "middle layer", "last layer"));
}

TEST_F(SendOrderTest, FramesOfOnePriorityLeaveAsTheyCame) {
  for (const char* name : {"a", "b", "c", "d"}) Add(name, Kind::kByPriority, 3);
  EXPECT_THAT(Rest(), ElementsAre("a", "b", "c", "d"));
}

TEST_F(SendOrderTest, FramesThatNameACommonBlockKeepTheirOrder) {
  Add("push of 1 and 2", Kind::kByPriority, 7, Blocks({1, 2}));
  Add("push of 3", Kind::kByPriority, 5, Blocks({3}));
  Add("pull of 2", Kind::kByPriority, 0, Blocks({2}));
  Add("pull of 2 and 4", Kind::kByPriority, 0, Blocks({2, 4}));
  Add("pull of 4", Kind::kByPriority, 0, Blocks({4}));
  Add("verdict on 1", Kind::kVerdicts, 0, Blocks({1}));
  EXPECT_THAT(Rest(), ElementsAre("push of 3", "push of 1 and 2", "pull of 2", "pull of 2 and 4", "pull of 4",
                                  "verdict on 1"));
}

TEST_F(SendOrderTest, NothingPassesAFrameInOrderAndItPassesNothing) {
  Add("a", Kind::kByPriority, 200);
  Add("goodbye", Kind::kInOrder);
  Add("b", Kind::kByPriority, 0);
  Add("ping", Kind::kControl);
  EXPECT_THAT(Rest(), ElementsAre("a", "goodbye", "ping", "b"));
}

TEST_F(SendOrderTest, AFrameThatHasLeftHoldsNobodyBack) {
  Add("push of 1, not urgent", Kind::kByPriority, 255, Blocks({1}));
  EXPECT_THAT(Rest(), ElementsAre("push of 1, not urgent"));
  Add("of 2", Kind::kByPriority, 9, Blocks({2}));
  Add("of 1, urgent now", Kind::kByPriority, 0, Blocks({1}));
  EXPECT_THAT(Rest(), ElementsAre("of 1, urgent now", "of 2"));
}

TEST_F(SendOrderTest, AgeRaisesPrioritySoThatNothingStarves) {
  Add("patient", Kind::kByPriority, 3, Blocks({0}));
  std::uint64_t passed = 0;
  // One urgent frame after the other comes before the last one has left.
  Add("urgent", Kind::kByPriority, 0, Blocks({1}), 1 << 20);
  for (; passed < (1U << 30); passed += 1 << 20) {
    Add("urgent", Kind::kByPriority, 0, Blocks({1}), 1 << 20);
    if (frames.TakeFirst() == "patient") break;
  }
  EXPECT_GE(passed, 2 * SendOrder::kBytesPerPriority);
  EXPECT_LE(passed, 3 * SendOrder::kBytesPerPriority);
}

// Two frames with a common block never change places, in any order of arrivals and departures.
TEST_F(SendOrderTest, NoMixOfFramesBreaksTheOrderOfABlock) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    OrderedFrames<std::pair<std::uint64_t, std::vector<BlockId>>> mixed;
    std::vector<std::uint64_t> last_of_block(8, 0);
    std::uint64_t fence = 0, number = 0;
    std::vector<std::uint64_t> fences;
    const auto take = [&] {
      const auto [taken, blocks] = mixed.TakeFirst();
      for (const BlockId block : blocks) {
        ASSERT_GT(taken, last_of_block[block.index()]) << "seed " << seed;
        last_of_block[block.index()] = taken;
      }
      ASSERT_GT(taken, fence) << "seed " << seed;
      if (std::ranges::find(fences, taken) != fences.end()) fence = taken;
    };
    for (int i = 0; i < 300; ++i) {
      std::vector<BlockId> blocks;
      for (std::uint32_t block = 0; block < 8; ++block) {
        if (random() % 4 == 0) blocks.emplace_back(block);
      }
      const auto kind = random() % 20 == 0  ? Kind::kInOrder
                        : random() % 3 == 0 ? Kind::kVerdicts
                                            : Kind::kByPriority;
      if (kind == Kind::kInOrder) fences.push_back(number + 1);
      mixed.Add({++number, blocks}, {kind, static_cast<std::uint8_t>(random()), blocks},
                random() % (1U << 24));
      while (!mixed.empty() && random() % 2 == 0) take();
    }
    while (!mixed.empty()) take();
  }
}

}  // namespace
}  // namespace leeway::wire
