// Link: an outbound connection that heals itself. It says hello, proves the job's secret, waits for its
// welcome, sends pings, finds silence, and reconnects with back-off.
//
// Used by servers and workers towards the scheduler and by workers towards shards. Thread rule: that of Env.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/transport.h"
#include "node/backoff.h"
#include "node/connector_handshake.h"
#include "wire/control.pb.h"
#include "wire/kind.h"

namespace leeway {

// Where the peer is now; asked at every connect (an address file may have changed).
using AddressSource = std::function<Result<std::string>()>;

class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  // The hello of the next connect.
  [[nodiscard]] virtual wire::pb::Hello MakeHello(std::uint32_t link) = 0;
  // Welcomed. Frames that were sent before and not confirmed may or may not have arrived: send them again.
  virtual void OnUp(std::uint32_t link, const wire::pb::Welcome& welcome) = 0;
  // Lost; the link reconnects by itself.
  virtual void OnDown(std::uint32_t link, const Status& why) = 0;
  // Final: refused by the peer's welcome or goodbye, or no welcome for give_up_after. The link is stopped.
  // Until give_up_after the link asks again in three cases: a welcome says kUnavailable; a peer does not
  // prove the secret, which is known to be right; a link that was up before finds another job there.
  virtual void OnFailed(std::uint32_t link, const Status& why) = 0;
  virtual Result<Landing> OnFrameStart(std::uint32_t link, const FrameHead& head,
                                       std::span<const std::byte> body) = 0;
  // Any frame but hello, welcome, goodbye, ping and pong.
  virtual void OnFrame(std::uint32_t link, const FrameHead& head, std::span<const std::byte> body,
                       Landing&& landing) = 0;
};

class Link final : private TransportEvents {
 public:
  // `link` names this link to `events`; `peer` names the other side in messages ("scheduler", "server 1 shard
  // 0").
  Link(Env& env, const LinkOptions& options, AddressSource where, std::uint32_t link, std::string peer,
       LinkEvents& events);
  ~Link() override;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void Start();
  // Another peer of the job has proven to know this secret, so it is the right one. A listener that does not
  // know it is no peer then, and the link looks for its peer until give_up_after. Else the first such
  // listener ends the link.
  void TrustSecret() { handshake_.Trust(); }
  // Says goodbye if up, then closes for good. No event follows.
  void Stop(const Status& why = Status::Ok());
  // The peer is at another address now: leaves the old one, and has the whole time to find the new one.
  void Readdress();
  [[nodiscard]] bool up() const { return state_ == State::kUp; }
  // Drops the frame unless up.
  void Send(wire::Kind kind, std::span<const std::byte> body, std::span<const Pinned> payload = {},
            const FrameOrder& order = {});
  void SendControl(wire::Kind kind, const google::protobuf::MessageLite& message);
  [[nodiscard]] const std::string& peer() const { return peer_; }
  // The carrier ("local", "uds", "tcp"); empty unless connected.
  [[nodiscard]] std::string_view carrier() const { return env_.transport.Carrier(connection_); }
  // When the peer was last heard of, also by a part of a frame; the time of Start before.
  [[nodiscard]] TimePoint last_heard() const;

 private:
  enum class State : std::uint8_t { kStopped, kWaiting, kConnecting, kGreeting, kProven, kUp };

  void OnAccepted(ConnectionId id, const std::string& peer) override;
  void OnConnected(ConnectionId id) override;
  Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                               std::span<const std::byte> body) override;
  void OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
               Landing&& landing) override;
  void OnClosed(ConnectionId id, const Status& why) override;

  void Connect();
  // Pauses before the next connect, or gives up at its time.
  void Retry();
  void OnRetry();
  void Lose(const Status& why);
  void Fail(const Status& why);
  // Back to nothing under way: no connection, no timer.
  void Reset();
  void OnChallenge(std::span<const std::byte> body);
  // The other side has not proven to know the secret.
  void OnUnproven(const Status& why);
  // A frame of a listener that has not proven to know the secret yet.
  void OnFrameBeforeProof(wire::Kind kind, std::span<const std::byte> body);
  void OnWelcome(std::span<const std::byte> body);
  void OnGoodbye(std::span<const std::byte> body);
  void SendNow(wire::Kind kind, std::span<const std::byte> body, std::span<const Pinned> payload,
               FrameOrder order = {});
  void SayIfNotShared(const std::string& host_key);
  void ArmBeat();
  void OnBeat();

  Env& env_;
  LinkEvents& events_;
  ConnectionId connection_;
  TimePoint last_heard_;
  TimePoint last_sent_;
  const std::uint32_t link_;
  State state_ = State::kStopped;
  const LinkOptions options_;
  const AddressSource where_;
  const std::string peer_;
  std::string address_;  // of the last connect
  TimerId timer_;        // of the back-off or the greeting
  TimerId beat_timer_;
  TimePoint beat_due_;
  Backoff backoff_;
  ConnectorHandshake handshake_;
  bool said_not_shared_ = false;
  bool was_up_ = false;  // has been welcomed before
};

}  // namespace leeway
