// Inbound: the listening side of a node. It takes hello and proof of the job's secret within a limit, checks
// version and job, answers pings and finds silence. A peer is told nothing of the job before its proof.
//
// Used by the scheduler and by shards. Thread rule: that of Env.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/rate_limited_log.h"
#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/transport.h"
#include "node/connection_table.h"
#include "node/held_frames.h"
#include "node/secret_proof.h"
#include "wire/control.pb.h"
#include "wire/kind.h"

namespace leeway {

// How a welcomed peer went.
enum class Parting : std::uint8_t {
  kGoodbye,  // it said so; the status is its own (ok: all is well)
  kLost,     // the connection is gone or the peer is silent; it may come back
  kCutOff,   // it broke the protocol
};

class InboundEvents {
 public:
  virtual ~InboundEvents() = default;
  // A peer of the right job and version, which has proven to know the secret, says hello. The welcome to
  // send, or the error to refuse it with.
  virtual Result<wire::pb::Welcome> OnHello(ConnectionId id, const wire::pb::Hello& hello) = 0;
  // The welcome has been queued: frames may follow it now.
  virtual void OnWelcomed(ConnectionId id) = 0;
  virtual Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                                       std::span<const std::byte> body) = 0;
  // Any frame but hello, goodbye, ping and pong. An error is a broken protocol: the peer is told and cut off.
  virtual Status OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                         Landing&& landing) = 0;
  // A welcomed peer is gone.
  virtual void OnGone(ConnectionId id, Parting how, const Status& why) = 0;
};

class Inbound final : private TransportEvents {
 public:
  Inbound(Env& env, const LinkOptions& options, std::string job, InboundEvents& events);
  ~Inbound() override;
  Inbound(const Inbound&) = delete;
  Inbound& operator=(const Inbound&) = delete;

  // Returns the address as bound.
  [[nodiscard]] Result<std::string> Listen(const std::string& address);
  void Send(ConnectionId id, wire::Kind kind, std::span<const std::byte> body,
            std::span<const Pinned> payload = {}, const FrameOrder& order = {});
  void SendControl(ConnectionId id, wire::Kind kind, const google::protobuf::MessageLite& message);
  // Says goodbye with `why` and closes; OnGone does not follow.
  void Close(ConnectionId id, const Status& why);
  // The same for all; peers that connect from now on are turned away.
  void CloseAll(const Status& why);

  // From now on welcomes, frames and closes wait, in order, for their Release. Pings, pongs and received
  // frames go on. `waiting` is called whenever something begins to wait, from inside the call that added it.
  // Frames with a payload cannot wait.
  void Hold(std::function<void()> waiting);
  // The number of the last frame or close that was held.
  [[nodiscard]] std::uint64_t last_held() const { return held_.last(); }
  // Whether a frame to this peer still waits for its Release.
  [[nodiscard]] bool IsHeldFor(ConnectionId id) const { return held_.Has(id); }
  // Sends all that is held up to this number.
  void Release(std::uint64_t up_to);
  // Ends the hold. Sends all that waits or, with `drop`, only welcomes and closes.
  void EndHold(bool drop);

  // Also by a part of a frame. REQUIRES: a welcomed peer that is not gone.
  [[nodiscard]] TimePoint last_heard(ConnectionId id) const;
  [[nodiscard]] std::size_t half_open() const;  // connected, no hello yet

 private:
  // The members that every frame looks at come first.
  struct Peer {
    TimePoint last_heard, last_sent;
    bool welcomed = false;
    bool greeted = false;  // its welcome has left
    bool choked = false;  // no room to hold a frame for it: its connection is closed, and the next beat tells
    Status refusal;       // of the frame whose payload is being drained
    TimerId hello_timer;
    std::unique_ptr<Greeting> greeting;  // of a peer that was asked for its proof
    std::string address;
  };

  void OnAccepted(ConnectionId id, const std::string& peer) override;
  void OnConnected(ConnectionId id) override;
  Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                               std::span<const std::byte> body) override;
  void OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
               Landing&& landing) override;
  void OnClosed(ConnectionId id, const Status& why) override;

  // The frames of a peer that is not welcomed yet.
  [[nodiscard]] Status OnFrameBeforeWelcome(ConnectionId id, wire::Kind kind,
                                            std::span<const std::byte> body);
  [[nodiscard]] Status Challenge(ConnectionId id, std::span<const std::byte> body);
  [[nodiscard]] Status CheckProof(const Greeting& greeting, std::span<const std::byte> body) const;
  // The peer has proven to know the secret.
  void Greet(ConnectionId id);
  [[nodiscard]] Result<wire::pb::Welcome> Admit(ConnectionId id, std::span<const std::byte> body);
  // Of a peer that has proven to know the secret. The refusal may have to wait for the log.
  void Refuse(ConnectionId id, const Status& why);
  // Of a peer that has not: `why` says nothing of the job, and the refusal never waits.
  void RefuseUnproven(ConnectionId id, const Status& why);
  // The peer broke the protocol: says why, closes, tells the node.
  void CutOff(ConnectionId id, const Status& why);
  void SayGoodbye(ConnectionId id, const Status& why);
  // Sends without holding. `peer` is null if it was closed meanwhile: it still gets the frames from before.
  void Transmit(ConnectionId id, Peer* peer, wire::Kind kind, std::span<const std::byte> body,
                std::span<const Pinned> payload, FrameOrder order = {});
  void CloseAfterSend(ConnectionId id);
  // Closes at once, and drops the frames that are held for it.
  void CloseNow(ConnectionId id);
  void SendHeld(const HeldFrames::Held& held);
  // Takes the peer out; true if it had been welcomed.
  bool Erase(ConnectionId id);
  // The same, with OnGone for a welcomed one.
  void Forget(ConnectionId id, Parting how, const Status& why);
  void OnGoodbye(ConnectionId id, std::span<const std::byte> body);
  void ArmBeat();
  void OnBeat();

  static constexpr std::size_t kHalfOpenMax = 256;

  Env& env_;
  const LinkOptions options_;
  const std::string job_;
  InboundEvents& events_;
  RateLimitedLog warnings_;
  ConnectionTable<Peer> peers_;
  std::size_t half_open_ = 0;
  bool closed_ = false;
  std::function<void()> waiting_;  // null: nothing is held
  HeldFrames held_;
  TimePoint beat_due_;
  TimerId beat_timer_;  // one for all peers; runs only while there are any
};

}  // namespace leeway
