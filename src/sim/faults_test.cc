#include "sim/faults.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/sim_env.h"

namespace leeway::sim {
namespace {

// Two nodes that send each other a frame every millisecond and connect again when they are cut off.
class ChattyPair : private TransportEvents {
 public:
  explicit ChattyPair(std::uint64_t seed)
      : network_(queue_, {}, seed, trace_), plan_(queue_, network_, {}, seed) {
    address_ = *server_.env().transport.Listen("10.0.0.1:0", *this);
    Connect();
    plan_.Start();
    Chat();
  }
  ~ChattyPair() override = default;

  void Run(Duration until) {
    while (queue_.next() <= until) queue_.RunOne();
  }
  [[nodiscard]] FaultCounters counters() const { return plan_.counters(); }
  [[nodiscard]] Duration healed_by() const { return plan_.healed_by(); }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  [[nodiscard]] std::uint64_t trace() const { return trace_.value(); }

 private:
  void Connect() { to_server_ = client_.env().transport.Connect(address_, *this); }
  void Chat() {
    const std::string word = "a word";
    client_.env().transport.Send(to_server_, 1, std::as_bytes(std::span(word)), {});
    server_.env().transport.Send(to_client_, 1, std::as_bytes(std::span(word)), {});
    (void)client_.env().timers.After(std::chrono::milliseconds(1), [this] { Chat(); });
  }
  void OnAccepted(ConnectionId id, const std::string&) override { to_client_ = id; }
  void OnConnected(ConnectionId) override {}
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
    return Landing{};
  }
  void OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing&&) override { ++frames_; }
  void OnClosed(ConnectionId id, const Status&) override {
    if (id == to_server_) Connect();
  }

  EventQueue queue_;
  TraceHash trace_;
  SimNetwork network_;
  FaultPlan plan_;
  LogRing ring_{queue_};
  Disk disk_{{}, 1};
  SimEnv server_{queue_, network_, network_.AddHost(), disk_, ring_, "server", 1};
  SimEnv client_{queue_, network_, network_.AddHost(), disk_, ring_, "client", 2};
  std::string address_;
  ConnectionId to_server_, to_client_;
  std::uint64_t frames_ = 0;
};

TEST(FaultPlanTest, EveryKindHappensAndAllHeals) {
  FaultCounters sum;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ChattyPair pair(seed);
    pair.Run(pair.healed_by());
    const FaultCounters counters = pair.counters();
    sum += counters;
    const std::uint64_t before = pair.frames();
    pair.Run(pair.healed_by() + std::chrono::seconds(1));
    EXPECT_GT(pair.frames(), before + 1900) << "seed " << seed << ": words pass both ways again";
    EXPECT_EQ(pair.counters().kinds[0], counters.kinds[0]) << "no fault comes after the plan's end";
  }
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    EXPECT_GE(sum.kinds[kind], 20U) << FaultKindName(static_cast<FaultKind>(kind));
  }
  EXPECT_GE(sum.cuts_inside_frame, 10U);
  EXPECT_EQ(sum.cuts_before_verdict, 0U) << "no frame here was a verdict";
}

TEST(FaultPlanTest, APlanIsItsSeed) {
  const auto trace = [](std::uint64_t seed) {
    ChattyPair pair(seed);
    pair.Run(pair.healed_by());
    return pair.trace();
  };
  EXPECT_EQ(trace(1), trace(1));
  EXPECT_NE(trace(1), trace(2));
}

}  // namespace
}  // namespace leeway::sim
