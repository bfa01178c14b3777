// FakeEnv: a hand-fed world for one node under test. For all tests of src/node: scheduler, server and worker
// alike.
//
// The test is the rest of the cluster: it accepts and completes connections, delivers frames ("Receive ...")
// and takes what the node sent ("Expect ..."); time stands still until Advance, and calls on files and jobs
// wait until they are stepped (fake_storage.h). Like a real Env it makes no
// callback from inside a call of the node. Header only, so that the library leeway_node holds nothing of it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/heap_arena.h"
#include "leeway/env.h"
#include "leeway/transport.h"
#include "node/control_frame.h"
#include "node/testing/fake_storage.h"
#include "wire/control.pb.h"
#include "wire/kind.h"
#include "wire/messages.h"

namespace leeway::testing {

class FakeClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return now; }
  TimePoint now{std::chrono::seconds(1000)};
};

class FakeTimers final : public Timers {
 public:
  explicit FakeTimers(FakeClock& clock) : clock_(clock) {}
  TimerId After(Duration delay, std::function<void()> fire) override {
    const TimerId id(++last_);
    queue_.emplace(std::pair(clock_.now + delay, id), std::move(fire));
    return id;
  }
  void Cancel(TimerId id) override {
    std::erase_if(queue_, [id](const auto& entry) { return entry.first.second == id; });
  }
  // Lets time pass, firing what becomes due, each at its own time.
  void Advance(Duration by) {
    const TimePoint until = clock_.now + by;
    while (!queue_.empty() && queue_.begin()->first.first <= until) {
      auto entry = queue_.extract(queue_.begin());
      clock_.now = std::max(clock_.now, entry.key().first);
      entry.mapped()();
    }
    clock_.now = until;
  }
  [[nodiscard]] std::size_t pending() const { return queue_.size(); }

 private:
  FakeClock& clock_;
  std::uint64_t last_ = 0;
  std::map<std::pair<TimePoint, TimerId>, std::function<void()>> queue_;
};

class FakeRandom final : public Random {
 public:
  std::uint64_t Next() override { return Mix64(++count_); }

 private:
  std::uint64_t count_ = 0;
};

class FakeLog final : public Log {
 public:
  void Write(LogLevel, std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

// One frame that the node sent, with its payload copied out.
struct SentFrame {
  ConnectionId to;
  wire::Kind kind{};
  std::vector<std::byte> body;
  std::vector<std::byte> payload{};
  std::vector<const void*>
      payload_at{};  // where each piece of the payload lay: shows that nothing was copied
  FrameOrder::Kind order{};
  std::uint8_t priority = 0;
  std::vector<BlockId> blocks{};

  [[nodiscard]] std::vector<float> floats() const {
    std::vector<float> values(payload.size() / sizeof(float));
    std::memcpy(values.data(), payload.data(), values.size() * sizeof(float));
    return values;
  }
};

class FakeTransport final : public Transport {
 public:
  // The node calls these.
  Result<std::string> Listen(const std::string& address, TransportEvents& events) override {
    if (!listen_error.ok()) return listen_error;
    listener_ = &events;
    return address.substr(0, address.rfind(':')) + ":4000";
  }
  ConnectionId Connect(const std::string& address, TransportEvents& events) override {
    const ConnectionId id(++last_);
    connections_[id] = {&events, {}};
    connects.emplace_back(id, address);
    return id;
  }
  void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
            std::span<const Pinned> payload, const FrameOrder& order) override {
    if (!connections_.contains(id)) return;
    SentFrame frame{id, static_cast<wire::Kind>(kind), {body.begin(), body.end()}};
    for (const Pinned& piece : payload) {
      frame.payload.insert(frame.payload.end(), piece.bytes.begin(), piece.bytes.end());
      frame.payload_at.push_back(piece.bytes.data());
    }
    frame.order = order.kind;
    frame.priority = order.priority;
    frame.blocks.assign(order.blocks.begin(), order.blocks.end());
    if (frame.kind == wire::Kind::kHello) hellos[id] = frame.body;
    if (on_sent) on_sent(frame);
    sent.push_back(std::move(frame));
  }
  void SetLimits(ConnectionId id, const FrameLimits& limits) override {
    if (connections_.contains(id)) connections_[id].limits = limits;
  }
  void Close(ConnectionId id) override {
    if (connections_.erase(id) > 0) closed.insert(id);
  }
  void CloseAfterSend(ConnectionId id) override { Close(id); }
  [[nodiscard]] std::uint64_t QueuedBytes(ConnectionId) const override { return queued_bytes; }
  [[nodiscard]] TimePoint LastReceived(ConnectionId id) const override {
    const auto found = received.find(id);
    return found == received.end() ? TimePoint::min() : found->second;
  }
  [[nodiscard]] std::string_view Carrier(ConnectionId) const override { return carrier; }
  [[nodiscard]] std::string WhyNotShared(ConnectionId) const override { return why_not_shared; }
  [[nodiscard]] std::string_view Host() const override { return host; }

  // The test calls these.
  ConnectionId Accept(const std::string& peer = "10.0.0.9:5555") {
    const ConnectionId id(++last_);
    connections_[id] = {listener_, {}};
    listener_->OnAccepted(id, peer);
    return id;
  }
  // The connect `id` is up.
  void Complete(ConnectionId id) { connections_.at(id).events->OnConnected(id); }
  // The connect under way (the last one) is up.
  ConnectionId CompleteConnect() {
    const ConnectionId id = connects.back().first;
    connections_.at(id).events->OnConnected(id);
    return id;
  }
  // The peer sends a frame. Like the real decoder: limits first, then a landing that must fit, then the
  // frame.
  Status Deliver(ConnectionId id, wire::Kind kind, std::span<const std::byte> body,
                 std::span<const std::byte> payload = {}) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return Unavailable("connection {} is closed", id.value());
    TransportEvents& events = *found->second.events;
    const FrameHead head{static_cast<std::uint8_t>(kind), static_cast<std::uint32_t>(body.size()),
                         payload.size()};
    if (head.body_bytes > found->second.limits.body_bytes_max ||
        head.payload_bytes > found->second.limits.payload_bytes_max) {
      return Lose(id, Protocol("frame over the limit: {} + {} bytes", head.body_bytes, head.payload_bytes));
    }
    Landing landing;
    if (!payload.empty()) {
      Result<Landing> got = events.OnFrameStart(id, head, body);
      if (!got.ok()) return Lose(id, got.status());
      landing = *std::move(got);
      if (const Status filled = Fill(landing, payload); !filled.ok()) return Lose(id, filled);
    }
    events.OnFrame(id, head, body, std::move(landing));
    return Status::Ok();
  }
  Status DeliverControl(ConnectionId id, wire::Kind kind, const google::protobuf::MessageLite& message) {
    return Deliver(id, kind, ControlBody(message));
  }
  template <typename Message>
  Status DeliverData(ConnectionId id, wire::Kind kind, const Message& message,
                     std::span<const float> payload = {}) {
    std::vector<std::byte> body;
    wire::Encode(message, body);
    return Deliver(id, kind, body, std::as_bytes(payload));
  }
  // Only the start of a frame: its landing. The connection may be lost before the rest.
  Result<Landing> DeliverStart(ConnectionId id, wire::Kind kind, std::span<const std::byte> body,
                               std::uint64_t payload_bytes) {
    return connections_.at(id).events->OnFrameStart(
        id, {static_cast<std::uint8_t>(kind), static_cast<std::uint32_t>(body.size()), payload_bytes}, body);
  }
  // The rest of a frame of which DeliverStart was the start.
  void DeliverRest(ConnectionId id, wire::Kind kind, std::span<const std::byte> body, Landing&& landing,
                   std::span<const std::byte> payload) {
    EXPECT_TRUE(Fill(landing, payload).ok());
    connections_.at(id).events->OnFrame(
        id, {static_cast<std::uint8_t>(kind), static_cast<std::uint32_t>(body.size()), payload.size()}, body,
        std::move(landing));
  }
  Status Lose(ConnectionId id, const Status& why = Unavailable("connection reset")) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return why;
    TransportEvents* events = found->second.events;
    connections_.erase(found);
    events->OnClosed(id, why);
    return why;
  }

  [[nodiscard]] bool IsOpen(ConnectionId id) const { return connections_.contains(id); }
  [[nodiscard]] std::size_t open() const { return connections_.size(); }
  [[nodiscard]] FrameLimits limits(ConnectionId id) const { return connections_.at(id).limits; }

  // Takes all frames sent to `id` since the last take.
  std::vector<SentFrame> TakeSent(ConnectionId id) {
    std::vector<SentFrame> taken;
    for (SentFrame& frame : sent) {
      if (frame.to == id) taken.push_back(std::move(frame));
    }
    std::erase_if(sent, [id](const SentFrame& frame) { return frame.to == id; });
    return taken;
  }
  // The same, of one kind only (others to `id` are dropped).
  std::vector<SentFrame> TakeSent(ConnectionId id, wire::Kind kind) {
    std::vector<SentFrame> taken = TakeSent(id);
    std::erase_if(taken, [kind](const SentFrame& frame) { return frame.kind != kind; });
    return taken;
  }

  Status listen_error;
  std::vector<std::pair<ConnectionId, std::string>> connects;
  std::vector<SentFrame> sent;
  std::function<void(const SentFrame&)> on_sent;          // told of each as well
  std::map<ConnectionId, std::vector<std::byte>> hellos;  // the node's own, as sent
  std::set<ConnectionId> closed;                          // by the node
  std::map<ConnectionId, TimePoint> received;             // what LastReceived says; set by the test
  std::string carrier = "tcp", host, why_not_shared;
  std::uint64_t queued_bytes = 0;      // of every connection
  std::vector<const void*> landed_at;  // the places of the last delivered payload

 private:
  Status Fill(const Landing& landing, std::span<const std::byte> payload) {
    landed_at.clear();
    for (const std::span<std::byte> place : landing.places) {
      if (place.size() > payload.size()) return Internal("the landing is larger than the payload");
      std::memcpy(place.data(), payload.data(), place.size());
      payload = payload.subspan(place.size());
      landed_at.push_back(place.data());
    }
    return payload.empty() ? Status::Ok() : Internal("the landing is smaller than the payload");
  }

  struct Connection {
    TransportEvents* events = nullptr;
    FrameLimits limits;
  };
  std::uint64_t last_ = 0;
  TransportEvents* listener_ = nullptr;
  std::map<ConnectionId, Connection> connections_;
};

// The message of a control frame; a test failure if it is not one.
template <typename Message>
Message ParseAs(const SentFrame& frame) {
  Message message;
  const Status parsed = ParseControl(frame.kind, frame.body, message);
  EXPECT_TRUE(parsed.ok()) << parsed.ToString();
  return message;
}

// The message of a data frame; a test failure if it is not one.
template <typename Message>
Message DecodeAs(const SentFrame& frame) {
  Message message;
  const Status decoded = wire::Decode(frame.body, frame.payload.size(), message);
  EXPECT_TRUE(decoded.ok()) << decoded.ToString();
  return message;
}

// The heap, up to a limit, which says that pages can be made ahead if it is told to.
class FakeArena final : public Arena {
 public:
  [[nodiscard]] std::shared_ptr<std::byte> Allocate(std::size_t bytes, Use use) override {
    if (bytes > *bytes_left) return nullptr;
    *bytes_left -= bytes;
    std::shared_ptr<std::byte> memory = heap_.Allocate(bytes, use);
    std::byte* const at = memory.get();
    return {at, [memory = std::move(memory), bytes, left = bytes_left](std::byte*) { *left += bytes; }};
  }
  [[nodiscard]] std::function<void()> Prepare(std::span<std::byte> memory) const override {
    if (!prepares) return {};
    asked.emplace_back(memory.data());
    return [this] { ++made; };
  }

  // Shared with what was allocated, which may outlive the arena.
  const std::shared_ptr<std::uint64_t> bytes_left = std::make_shared<std::uint64_t>(1ULL << 40);
  bool prepares = false;
  mutable std::vector<const void*> asked;
  mutable int made = 0;

 private:
  HeapArena heap_;
};

// All of them together; `env` is what the node gets. Outlives the node.
class FakeEnv {
 public:
  FakeEnv() = default;
  FakeEnv(const FakeEnv&) = delete;
  FakeEnv& operator=(const FakeEnv&) = delete;

  void Advance(Duration by) { timers.Advance(by); }
  // The node's process stands still: what became due meanwhile fires at the end, all at once.
  void Pause(Duration by) {
    clock.now += by;
    timers.Advance(Duration::zero());
  }

  FakeClock clock;
  FakeTimers timers{clock};
  FakeTransport transport;
  FakeRandom random;
  FakeLog log;
  FakeStorage storage;
  FakeCompute compute;
  FakeArena arena;
  Env env{clock, timers, transport, random, log, storage, compute, arena};
};

}  // namespace leeway::testing
