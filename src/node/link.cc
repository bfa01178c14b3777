#include "node/link.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/own_pause.h"
#include "node/seconds.h"

namespace leeway {
Link::Link(Env& env, const LinkOptions& options, AddressSource where, std::uint32_t link, std::string peer,
           LinkEvents& events)
    : env_(env),
      events_(events),
      link_(link),
      options_(options),
      where_(std::move(where)),
      peer_(std::move(peer)),
      backoff_(options) {}

Link::~Link() { Reset(); }

void Link::Start() {
  if (state_ != State::kStopped) return;
  last_heard_ = env_.clock.Now();
  backoff_.Begin(last_heard_);
  Connect();
}

void Link::Stop(const Status& why) {
  if (state_ == State::kUp) {
    SendControl(wire::Kind::kGoodbye, GoodbyeOf(why));
    env_.transport.CloseAfterSend(std::exchange(connection_, {}));
  }
  Reset();
  state_ = State::kStopped;
}

void Link::Readdress() {
  if (state_ == State::kStopped) return;
  if (state_ != State::kUp) backoff_.Begin(env_.clock.Now());
  Lose(Unavailable("{} is no longer at {}", peer_, address_));
}

void Link::Send(wire::Kind kind, std::span<const std::byte> body, std::span<const Pinned> payload,
                const FrameOrder& order) {
  if (state_ == State::kUp) SendNow(kind, body, payload, order);
}

void Link::SendControl(wire::Kind kind, const google::protobuf::MessageLite& message) {
  Send(kind, ControlBody(message));
}

TimePoint Link::last_heard() const { return std::max(last_heard_, env_.transport.LastReceived(connection_)); }

void Link::SendNow(wire::Kind kind, std::span<const std::byte> body, std::span<const Pinned> payload,
                   FrameOrder order) {
  last_sent_ = env_.clock.Now();
  if (wire::MayPassOthers(kind)) order.kind = FrameOrder::Kind::kControl;
  env_.transport.Send(connection_, static_cast<std::uint8_t>(kind), body, payload, order);
}

void Link::Connect() {
  const Result<std::string> address = where_();
  if (!address.ok()) {
    backoff_.NoteError(address.status());
    return Retry();
  }
  address_ = *address;
  state_ = State::kConnecting;
  connection_ = env_.transport.Connect(address_, *this);
  const Duration limit = std::min<Duration>(options_.hello_timeout, backoff_.Left(env_.clock.Now()));
  timer_ = env_.timers.After(limit, [this, limit] {
    timer_ = {};
    Lose(DeadlineExceeded("{} at {} did not answer the hello within {:.1f} s", peer_, address_,
                          Seconds(limit)));
  });
}

void Link::Retry() {
  state_ = State::kWaiting;
  timer_ = env_.timers.After(backoff_.NextPause(env_.clock.Now(), env_.random), [this] {
    timer_ = {};
    OnRetry();
  });
}

void Link::OnRetry() {
  const TimePoint now = env_.clock.Now();
  if (backoff_.Left(now) > Duration::zero()) return Connect();
  Fail(backoff_.GivenUp(peer_, address_, now));
}

void Link::Reset() {
  env_.timers.Cancel(std::exchange(timer_, {}));
  env_.timers.Cancel(std::exchange(beat_timer_, {}));
  if (connection_ != ConnectionId{}) env_.transport.Close(std::exchange(connection_, {}));
}

void Link::Lose(const Status& why) {
  const bool was_up = state_ == State::kUp;
  Reset();
  backoff_.NoteError(why);
  if (was_up) backoff_.Begin(env_.clock.Now());
  Retry();
  // Last, since the node may stop this link from inside.
  if (was_up) events_.OnDown(link_, why);
}

void Link::Fail(const Status& why) {
  Reset();
  state_ = State::kStopped;
  events_.OnFailed(link_, why);
}

// A link never listens.
void Link::OnAccepted(ConnectionId, const std::string&) {}

void Link::OnConnected(ConnectionId id) {
  if (id != connection_) return;
  state_ = State::kGreeting;
  SendNow(wire::Kind::kHello, handshake_.Hello(events_.MakeHello(link_), env_.random), {});
}

Result<Landing> Link::OnFrameStart(ConnectionId id, const FrameHead& head, std::span<const std::byte> body) {
  if (id != connection_ || state_ != State::kUp)
    return Protocol("{} sent a payload before its welcome", peer_);
  last_heard_ = env_.clock.Now();
  return events_.OnFrameStart(link_, head, body);
}

void Link::OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                   Landing&& landing) {
  if (id != connection_) return;
  last_heard_ = env_.clock.Now();
  const auto kind = static_cast<wire::Kind>(head.kind);
  if (state_ == State::kGreeting) return OnFrameBeforeProof(kind, body);
  if (kind == wire::Kind::kGoodbye) return OnGoodbye(body);
  if (state_ == State::kProven) {
    if (kind == wire::Kind::kWelcome) return OnWelcome(body);
    return Lose(Protocol("{} at {} answered the proof with {}, wanted Welcome", peer_, address_,
                         wire::KindName(kind)));
  }
  switch (kind) {
    case wire::Kind::kPing:
      return SendNow(wire::Kind::kPong, {}, {});
    case wire::Kind::kPong:
      return;
    case wire::Kind::kHello:
    case wire::Kind::kWelcome:
    case wire::Kind::kChallenge:
    case wire::Kind::kProof:
      return Lose(Protocol("{} at {} sent {} after its welcome", peer_, address_, wire::KindName(kind)));
    default:
      events_.OnFrame(link_, head, body, std::move(landing));
  }
}

void Link::OnFrameBeforeProof(wire::Kind kind, std::span<const std::byte> body) {
  if (kind == wire::Kind::kChallenge) return OnChallenge(body);
  if (kind != wire::Kind::kWelcome) {
    return Lose(Protocol("{} at {} answered the hello with {}, wanted Challenge", peer_, address_,
                         wire::KindName(kind)));
  }
  wire::pb::Welcome refusal;
  if (Status parsed = ParseControl(kind, body, refusal); !parsed.ok()) return Lose(parsed);
  if (refusal.error().empty()) {
    return OnUnproven(InvalidArgument(
        "{} at {} sent a welcome without proving that it knows the job's secret", peer_, address_));
  }
  const Status why = StatusFromWire(refusal.error_code(), refusal.error());
  OnUnproven(why.ok() ? InvalidArgument("{} at {} refused without a reason", peer_, address_) : why);
}

void Link::OnChallenge(std::span<const std::byte> body) {
  wire::pb::Challenge challenge;
  if (Status parsed = ParseControl(wire::Kind::kChallenge, body, challenge); !parsed.ok())
    return Lose(parsed);
  const Result<wire::pb::Proof> proof =
      handshake_.Answer(challenge, options_.secret, fmt::format("{} at {}", peer_, address_));
  if (!proof.ok()) return OnUnproven(proof.status());
  state_ = State::kProven;
  SendNow(wire::Kind::kProof, ControlBody(*proof), {});
}

// A peer without the secret must not end this node: a link that knows its secret is right waits for its peer.
void Link::OnUnproven(const Status& why) {
  backoff_.NoteToldToWait(false);
  return handshake_.trusted() || why.code() == StatusCode::kUnavailable ? Lose(why) : Fail(why);
}

void Link::OnWelcome(std::span<const std::byte> body) {
  wire::pb::Welcome welcome;
  if (Status parsed = ParseControl(wire::Kind::kWelcome, body, welcome); !parsed.ok()) return Lose(parsed);
  if (!welcome.error().empty()) {
    const Status refusal = StatusFromWire(welcome.error_code(), welcome.error());
    // A peer that says kUnavailable may say yes soon: the usual limit decides. A peer that welcomed this link
    // before and now finds it wrong is another process: another job may have the port of a peer that died.
    const bool is_another = was_up_ && refusal.code() == StatusCode::kInvalidArgument;
    const bool told_to_wait = is_another || refusal.code() == StatusCode::kUnavailable;
    backoff_.NoteToldToWait(told_to_wait);
    return told_to_wait ? Lose(refusal) : Fail(refusal);
  }
  backoff_.NoteToldToWait(false);
  if (welcome.version() < wire::kVersionMin || welcome.version() > wire::kVersionMax) {
    return Fail(Protocol("{} at {} chose protocol version {}, wanted one of {}-{}", peer_, address_,
                         welcome.version(), wire::kVersionMin, wire::kVersionMax));
  }
  SayIfNotShared(welcome.host_key());
  env_.timers.Cancel(std::exchange(timer_, {}));
  env_.transport.SetLimits(connection_, {options_.body_bytes_max, options_.payload_bytes_max});
  state_ = State::kUp;
  was_up_ = true;
  ArmBeat();
  events_.OnUp(link_, welcome);
}

// The peer may be on this host and still share no memory: two containers with a network of their own, say.
void Link::SayIfNotShared(const std::string& host_key) {
  if (options_.transport != "auto" || said_not_shared_) return;
  std::string why = env_.transport.WhyNotShared(connection_);
  const bool same_host = !host_key.empty() && host_key == env_.transport.Host();
  if (why.empty() && same_host && carrier() == "tcp")
    why = "its Unix socket is not within reach: another network namespace or user, or --transport tcp there";
  if (why.empty()) return;
  said_not_shared_ = true;
  env_.log.Write(
      LogLevel::kWarning,
      fmt::format("{} at {} is on this host, but memory cannot be shared with it ({}): frames go {}", peer_,
                  address_, why, carrier() == "tcp" ? "over TCP" : "through its Unix socket"));
}

void Link::OnGoodbye(std::span<const std::byte> body) {
  wire::pb::Goodbye goodbye;
  if (Status parsed = ParseControl(wire::Kind::kGoodbye, body, goodbye); !parsed.ok()) return Lose(parsed);
  const StatusCode code = CodeFromWire(goodbye.code());
  if (goodbye.code() != 0 && code != StatusCode::kUnavailable)
    return Fail(StatusFromWire(goodbye.code(), goodbye.message()));
  // It stopped, and may be started again: the usual limit on reconnecting decides.
  Lose(Unavailable("{} at {} said goodbye{}{}", peer_, address_, goodbye.message().empty() ? "" : ": ",
                   ClippedMessage(goodbye.message())));
}

void Link::OnClosed(ConnectionId id, const Status& why) {
  if (id != connection_) return;
  connection_ = {};
  Lose(why.ok() ? Unavailable("{} at {} closed the connection", peer_, address_) : why);
}

void Link::ArmBeat() {
  const TimePoint now = env_.clock.Now();
  beat_due_ = std::max(now, std::min(last_sent_ + options_.beat, last_heard_ + options_.silence_max));
  beat_timer_ = env_.timers.After(beat_due_ - now, [this] {
    beat_timer_ = {};
    OnBeat();
  });
}

// Sends do not move the timer: it looks at the clock when it fires, and is set for the next time then.
void Link::OnBeat() {
  const TimePoint now = env_.clock.Now();
  last_heard_ = std::min(now, last_heard() + OwnPause(beat_due_, now, options_.beat));
  if (now - last_heard_ >= options_.silence_max) {
    return Lose(Unavailable("{} at {} was silent for {:.1f} s", peer_, address_, Seconds(now - last_heard_)));
  }
  if (now - last_sent_ >= options_.beat) SendNow(wire::Kind::kPing, {}, {});
  ArmBeat();
}

}  // namespace leeway
