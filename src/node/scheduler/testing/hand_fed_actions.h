// HandFedActions: what a part of the scheduler asks for, kept for its test. The test acknowledges epochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "node/control_frame.h"
#include "node/scheduler/epoch_acks.h"
#include "node/scheduler/scheduler_actions.h"
#include "node/testing/fake_env.h"

namespace leeway::testing {

class HandFedActions final : public SchedulerActions {
 public:
  explicit HandFedActions(std::size_t shards) : shards_(shards), acks_(shards) {}
  static ConnectionId Worker(std::uint64_t rank) { return ConnectionId(100 + rank); }
  static ConnectionId Shard(std::uint64_t id) { return ConnectionId(200 + id); }

  void Send(ConnectionId to, wire::Kind kind, const Message& message) override {
    sent.push_back({to, kind, ControlBody(message), {}, {}});
  }
  void SendToShards(wire::Kind kind, const Message& message) override {
    for (std::size_t i = 0; i < shards_; ++i) Send(Shard(i), kind, message);
  }
  void SendToMembers(wire::Kind kind, const Message& for_shards, const Message& for_workers) override {
    SendToShards(kind, for_shards);
    Send(Worker(0), kind, for_workers);
  }
  [[nodiscard]] Epoch epoch() const override { return epoch_; }
  [[nodiscard]] Epoch NextEpoch() override { return ++epoch_; }
  void WhenAcked(Epoch epoch, ConnectionId whose, std::function<void()> then) override {
    acks_.When(epoch, whose, std::move(then));
  }

  // Every shard has the present epoch in force.
  void AckAll() {
    for (std::size_t i = 0; i < shards_; ++i) acks_.Ack(ShardId(static_cast<std::uint32_t>(i)), epoch_);
  }
  template <typename Sent>
  std::vector<Sent> Take(ConnectionId to, wire::Kind kind) {
    std::vector<Sent> taken;
    std::erase_if(sent, [&](const SentFrame& frame) {
      if (frame.to != to || frame.kind != kind) return false;
      taken.push_back(ParseAs<Sent>(frame));
      return true;
    });
    return taken;
  }

  std::vector<SentFrame> sent;

 private:
  const std::size_t shards_;
  Epoch epoch_{1};
  EpochAcks acks_;
};

}  // namespace leeway::testing
