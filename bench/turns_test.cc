#include "turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"

namespace leeway::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Turn> Did(double count) {
  Turn turn;
  turn.count = count;
  turn.seconds = 2;
  return turn;
}

TEST(TurnsTest, AlternateInOrderAfterOneToWarmUp) {
  std::vector<std::string> order;
  std::vector<Side> sides;
  for (const char* name : {"a", "b", "c"}) {
    sides.push_back({name, [&order, name](double seconds) {
                       order.push_back(name + std::to_string(static_cast<int>(seconds)));
                       return Did(4);
                     }});
  }
  ASSERT_TRUE(TakeTurns(sides, {.warm_seconds = 1, .seconds = 2, .repeats = 2}).ok());
  EXPECT_THAT(order, ElementsAre("a1", "b1", "c1", "a2", "b2", "c2", "c2", "b2", "a2"));
  EXPECT_THAT(sides[1].Rates(), ElementsAre(2, 2));
}

TEST(TurnsTest, ASideThatFailsOrDoesNothingIsNamed) {
  std::vector<Side> sides = {{"leeway", [](double) -> Result<Turn> { return Unavailable("gone"); }}};
  EXPECT_EQ(TakeTurns(sides, {}).message(), "leeway: gone");
  sides = {{"leeway", [](double) { return Did(0); }}};
  EXPECT_THAT(TakeTurns(sides, {}).message(), HasSubstr("leeway: nothing was done in 2 s"));
}

// Two children that count, and one that serves.
TEST(TurnsTest, RunTogetherAddsUpWhatTheClientsDid) {
  Children clients, servers;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<Child>([i](Child::Parent& parent) {
      return Obey(parent, RunOrder([i](double seconds, LatencyHistogram& latency) -> Result<std::uint64_t> {
                    if (seconds > 5) return Unavailable("too long");
                    latency.Note(1000);
                    return 10 + i;
                  }));
    }));
  }
  ASSERT_TRUE(HearAll(clients, "ready").ok());
  const Result<Turn> turn = RunTogether(clients, servers, 0.5);
  ASSERT_TRUE(turn.ok()) << turn.status().ToString();
  EXPECT_EQ(turn->count, 21);
  EXPECT_EQ(turn->latency.count(), 2U);
  EXPECT_THAT(RunTogether(clients, servers, 6).status().message(), HasSubstr("too long"));
}

TEST(ChildTest, OneThatIsGoneIsAnError) {
  Child child([](Child::Parent&) { return 3; });
  EXPECT_THAT(child.Hear().status().message(), HasSubstr("gone"));
  Child silent([](Child::Parent& parent) { return parent.Hear() ? 0 : 1; });
  EXPECT_THAT(silent.Hear(std::chrono::milliseconds(20)).status().message(), HasSubstr("nothing was said"));
}

TEST(ChildTest, AnUnknownOrderIsAnError) {
  Child child([](Child::Parent& parent) { return Obey(parent, {}); });
  EXPECT_EQ(*child.Hear(), "ready");
  ASSERT_TRUE(child.Tell("dance").ok());
  EXPECT_THAT(child.Hear().status().message(), HasSubstr("unknown order \"dance\""));
}

}  // namespace
}  // namespace leeway::bench
