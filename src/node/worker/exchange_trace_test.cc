#include "node/worker/exchange_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/heap_arena.h"
#include "node/push_flow.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps the events of iteration 7 in words, until they survive and after.
class KeptTrace final : public Trace {
 public:
  [[nodiscard]] bool Wants(Iteration iteration) const override { return iteration == Iteration(7); }
  [[nodiscard]] TimePoint Now() const override { return TimePoint(std::chrono::milliseconds(5)); }
  void Add(const TraceEvent& event) override {
    const char* const kinds[] = {"begin", "end", "slice", "out", "in"};
    unsafe.push_back(fmt::format("{} {}", kinds[static_cast<int>(event.kind)], event.name) +
                     (event.of.empty() ? "" : fmt::format(" of {}", event.of)));
    ids.push_back(event.id);
  }
  void Flush() override {
    safe.insert(safe.end(), unsafe.begin(), unsafe.end());
    unsafe.clear();
  }
  std::vector<std::string> unsafe, safe;
  std::vector<std::uint64_t> ids;
};

class ExchangeTraceTest : public ::testing::Test {
 protected:
  HeapArena arena;
  BufferPool pool{1 << 20, arena};
  ParameterPair pair{2, nullptr, nullptr};
  WorkerTable table{TableId(3), {.name = "w", .shape = {2}}, pair, pool};
  KeptTrace kept;
  ExchangeTrace trace{&kept};
  const WorkerIdentity self{WorkerId(1), Incarnation(2), false, Epoch(0)};
};

TEST_F(ExchangeTraceTest, APushEndsWhenItsOutcomeIsKnownAndTheUserIsTold) {
  std::optional<Status> told;
  Done done = [&told](const Status& status) { told = status; };
  trace.BeginPush(table, Iteration(7), TimePoint(), done);
  EXPECT_THAT(kept.unsafe, ElementsAre("begin push of w"));
  done(Status::Ok());
  EXPECT_THAT(kept.unsafe, ElementsAre("begin push of w", "end push"));
  EXPECT_EQ(kept.ids[0], kept.ids[1]);
  EXPECT_TRUE(told.has_value());
}

// The server writes the other end of each arrow as soon as it has the frame.
TEST_F(ExchangeTraceTest, TheArrowsOfAFrameSurviveADeathAfterIt) {
  const std::vector<wire::PushEntry> entries{{BlockId(4), Term(1), Seq(9), Version(1)},
                                             {BlockId(5), Term(1), Seq(9), Version(1)}};
  trace.AddFrame(self, table, Iteration(7), entries);
  EXPECT_THAT(kept.safe, ElementsAre("out to server", "out to server", "slice send of w"));
  EXPECT_THAT(kept.unsafe, IsEmpty());
  EXPECT_EQ(kept.ids[0], PushFlowId(WorkerId(1), Incarnation(2), BlockId(4), Seq(9)));
}

TEST_F(ExchangeTraceTest, OtherIterationsAndAWorkerWithoutATraceAddNothing) {
  Done none;
  trace.BeginPush(table, Iteration(6), TimePoint(), none);
  trace.BeginPull(table, Iteration(8));
  trace.EndPull(table, Iteration(8));
  trace.AddFrame(self, table, Iteration(8), {});
  EXPECT_THAT(kept.unsafe, IsEmpty());
  EXPECT_THAT(kept.safe, IsEmpty());
  EXPECT_FALSE(none) << "nothing to tell";
  const ExchangeTrace without(nullptr);
  without.BeginPush(table, Iteration(7), TimePoint(), none);
  without.AddFrame(self, table, Iteration(7), {});
  EXPECT_FALSE(none);
}

}  // namespace
}  // namespace leeway
