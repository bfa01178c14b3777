// TransportRecorder: TransportEvents that keep what happened, and check what must never happen.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/transport.h"

namespace leeway::contract {

struct ReceivedFrame {
  ConnectionId id;
  std::uint8_t kind = 0;
  std::string body;
  std::string payload;
};

class TransportRecorder final : public TransportEvents {
 public:
  explicit TransportRecorder(Env& env) : transport_(env.transport) {}

  std::vector<ConnectionId> accepted;
  std::vector<ConnectionId> connected;
  std::map<ConnectionId, Status> closed;
  std::vector<ReceivedFrame> frames;
  int frame_starts = 0;
  int leases = 0;                                      // alive now
  std::vector<std::size_t> places;                     // sizes of all places but the last; empty: one place
  std::function<void(ConnectionId)> on_accepted;       // runs inside OnAccepted
  std::function<void(const ReceivedFrame&)> on_frame;  // runs inside OnFrame
  std::function<void(ConnectionId)> on_frame_start;    // runs inside OnFrameStart
  std::function<void(const Landing&)> on_landing;      // runs inside OnFrame
  Status refuse_landing;                               // not ok: the answer to OnFrameStart
  bool wrong_landing = false;                          // a byte short
  bool reads_in_place = false;                         // takes a readable payload in place
  std::size_t read_in_place = 0;                       // frames of which it did

  // The calls of a transport, under watch: no event may come from inside one.
  Result<std::string> Listen(const std::string& address) {
    const Call call(*this);
    return transport_.Listen(address, *this);
  }
  ConnectionId Connect(const std::string& address) {
    const Call call(*this);
    return transport_.Connect(address, *this);
  }
  void Send(ConnectionId id, std::uint8_t kind, const std::string& body,
            const std::vector<Pinned>& payload = {}) {
    const Call call(*this);
    transport_.Send(id, kind, std::as_bytes(std::span(body)), payload);
  }
  void Close(ConnectionId id) {
    const Call call(*this);
    silent_.push_back(id);
    transport_.Close(id);
  }
  void CloseAfterSend(ConnectionId id) {
    const Call call(*this);
    silent_.push_back(id);
    transport_.CloseAfterSend(id);
  }
  void AllowLarge(ConnectionId id) {
    const Call call(*this);
    transport_.SetLimits(id, {.body_bytes_max = 1 << 20, .payload_bytes_max = 64 << 20});
  }

  void OnAccepted(ConnectionId id, const std::string& peer) override {
    Check(id);
    EXPECT_FALSE(peer.empty());
    accepted.push_back(id);
    if (on_accepted) return on_accepted(id);
    AllowLarge(id);
  }
  void OnConnected(ConnectionId id) override {
    Check(id);
    connected.push_back(id);
    AllowLarge(id);
  }
  Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head, std::span<const std::byte>) override {
    Check(id);
    EXPECT_GT(head.payload_bytes, 0U);
    ++frame_starts;
    if (on_frame_start) on_frame_start(id);
    if (!refuse_landing.ok()) return refuse_landing;
    if (reads_in_place && head.readable && !wrong_landing) {
      ++read_in_place;
      return Landing{.places = {}, .lease = {}, .in_place = true};
    }
    return Land(static_cast<std::size_t>(head.payload_bytes) - (wrong_landing ? 1 : 0));
  }
  void OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
               Landing&& landing) override {
    Check(id);
    EXPECT_EQ(head.body_bytes, body.size());
    ReceivedFrame frame{id, head.kind, {reinterpret_cast<const char*>(body.data()), body.size()}, {}};
    for (const std::span<std::byte> place : landing.places) {
      frame.payload.append(reinterpret_cast<const char*>(place.data()), place.size());
    }
    for (const std::span<const std::byte> view : landing.views) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data()) % alignof(float), 0U);
      frame.payload.append(reinterpret_cast<const char*>(view.data()), view.size());
    }
    EXPECT_TRUE(landing.witness.Holds());
    if (on_landing) on_landing(landing);
    EXPECT_EQ(head.payload_bytes, frame.payload.size());
    frames.push_back(std::move(frame));
    if (on_frame) on_frame(ReceivedFrame(frames.back()));
  }
  void OnClosed(ConnectionId id, const Status& why) override {
    Check(id);
    EXPECT_FALSE(why.ok());
    EXPECT_FALSE(why.message().empty());
    closed.emplace(id, why);
  }

 private:
  struct Call {
    explicit Call(TransportRecorder& recorder) : recorder_(recorder) { ++recorder_.calls_; }
    ~Call() { --recorder_.calls_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    TransportRecorder& recorder_;
  };

  void Check(ConnectionId id) {
    EXPECT_EQ(calls_, 0) << "an event came from inside a call";
    EXPECT_NE(id, ConnectionId(0));
    EXPECT_EQ(closed.count(id), 0U) << "an event came after OnClosed";
    EXPECT_EQ(std::count(silent_.begin(), silent_.end(), id), 0) << "an event came after Close";
  }

  Landing Land(std::size_t bytes) {
    ++leases;
    // Shared with the places of one landing, as Landing::lease is.
    const std::shared_ptr<std::vector<std::byte>> memory(new std::vector<std::byte>(bytes),
                                                         [this](auto* dead) {
                                                           --leases;
                                                           delete dead;
                                                         });
    Landing landing{.places = {}, .lease = memory};
    std::span<std::byte> rest(*memory);
    for (const std::size_t size : places) {
      const std::size_t taken = std::min(size, rest.size());
      landing.places.push_back(rest.first(taken));
      rest = rest.subspan(taken);
    }
    landing.places.push_back(rest);
    return landing;
  }

  Transport& transport_;
  int calls_ = 0;
  std::vector<ConnectionId> silent_;
};

}  // namespace leeway::contract
