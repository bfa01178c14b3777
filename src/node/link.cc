#include "node/link.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
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
      peer_(std::move(peer)) {}

Link::~Link() { Reset(); }

void Link::Start() {
  if (state_ != State::kStopped) return;
  down_since_ = last_heard_ = env_.clock.Now();
  backoff_ = options_.backoff_min;
  Connect();
}

void Link::Stop(const Status& why) {
  if (state_ == State::kUp) {
    wire::pb::Goodbye goodbye;
    goodbye.set_code(static_cast<std::uint32_t>(why.code()));
    goodbye.set_message(ClippedMessage(why.message()));
    SendControl(wire::Kind::kGoodbye, goodbye);
    env_.transport.CloseAfterSend(std::exchange(connection_, {}));
  }
  Reset();
  state_ = State::kStopped;
}

void Link::Readdress() {
  if (state_ == State::kStopped) return;
  if (state_ != State::kUp) {
    down_since_ = env_.clock.Now();
    backoff_ = options_.backoff_min;
  }
  Lose(Unavailable("{} is no longer at {}", peer_, address_));
}

void Link::Send(wire::Kind kind, std::span<const std::byte> body, std::span<const Pinned> payload) {
  if (state_ == State::kUp) SendNow(kind, body, payload);
}

void Link::SendControl(wire::Kind kind, const google::protobuf::MessageLite& message) {
  Send(kind, ControlBody(message));
}

TimePoint Link::last_heard() const { return std::max(last_heard_, env_.transport.LastReceived(connection_)); }

void Link::SendNow(wire::Kind kind, std::span<const std::byte> body, std::span<const Pinned> payload) {
  last_sent_ = env_.clock.Now();
  env_.transport.Send(connection_, static_cast<std::uint8_t>(kind), body, payload);
}

void Link::Connect() {
  const Result<std::string> address = where_();
  if (!address.ok()) {
    last_error_ = address.status();
    Retry();
    return;
  }
  address_ = *address;
  state_ = State::kConnecting;
  connection_ = env_.transport.Connect(address_, *this);
  const Duration limit = std::min<Duration>(options_.hello_timeout, LeftBeforeGivingUp());
  timer_ = env_.timers.After(limit, [this, limit] {
    timer_ = {};
    Lose(DeadlineExceeded("{} at {} did not answer the hello within {:.1f} s", peer_, address_,
                          Seconds(limit)));
  });
}

Duration Link::LeftBeforeGivingUp() const {
  return std::max(Duration::zero(), down_since_ + options_.give_up_after - env_.clock.Now());
}

void Link::Retry() {
  state_ = State::kWaiting;
  // Between 0.75 and 1.25 of the back-off, so that many workers do not come back all at once.
  const double jitter = 0.75 + 0.5 * UnitInterval(env_.random.Next());
  const Duration pause(static_cast<Duration::rep>(static_cast<double>(backoff_.count()) * jitter));
  backoff_ = std::min<Duration>(backoff_ * 2, options_.backoff_max);
  timer_ = env_.timers.After(std::min(pause, LeftBeforeGivingUp()), [this] {
    timer_ = {};
    OnRetry();
  });
}

void Link::OnRetry() {
  if (LeftBeforeGivingUp() > Duration::zero()) {
    Connect();
    return;
  }
  if (told_to_wait_) {
    return Fail(Unavailable("{}; asked for {:.1f} s", last_error_.message(),
                            Seconds(env_.clock.Now() - down_since_)));
  }
  Fail(Unavailable("no answer from {}{}{} for {:.1f} s: {}; is it running?", peer_,
                   address_.empty() ? "" : " at ", address_, Seconds(env_.clock.Now() - down_since_),
                   last_error_.message()));
}

void Link::Reset() {
  env_.timers.Cancel(std::exchange(timer_, {}));
  env_.timers.Cancel(std::exchange(beat_timer_, {}));
  if (connection_ != ConnectionId{}) env_.transport.Close(std::exchange(connection_, {}));
}

void Link::Lose(const Status& why) {
  const bool was_up = state_ == State::kUp;
  Reset();
  last_error_ = why;
  if (was_up) {
    down_since_ = env_.clock.Now();
    backoff_ = options_.backoff_min;
  }
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
  wire::pb::Hello hello = events_.MakeHello(link_);
  hello.set_version_min(wire::kVersionMin);
  hello.set_version_max(wire::kVersionMax);
  greeting_.connector = DrawNonce(env_.random);
  hello.set_nonce(std::string(AsText(greeting_.connector)));
  greeting_.hello = ControlBody(hello);
  SendNow(wire::Kind::kHello, greeting_.hello, {});
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
  if (state_ == State::kGreeting) return OnStrangersFrame(kind, body);
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

void Link::OnStrangersFrame(wire::Kind kind, std::span<const std::byte> body) {
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
  const bool proven = TakeNonce(challenge.nonce(), greeting_.listener) &&
                      IsProof(challenge.proof(), options_.secret, ProofSide::kListener, greeting_);
  if (!proven) {
    const bool insecure = IsProof(challenge.proof(), "", ProofSide::kListener, greeting_);
    return OnUnproven(InvalidArgument(
        "{} at {} did not prove that it knows the job's secret: {}", peer_, address_,
        insecure ? "it was started with --insecure, and this process has a secret; start both alike"
        : options_.secret.empty()
            ? "it has one, and this process has none; give it with --secret-file or LEEWAY_SECRET_FILE"
            : "it has another one, or is no node of this job; is --secret-file (LEEWAY_SECRET_FILE) the file "
              "of "
              "this job?"));
  }
  secret_is_right_ = true;
  state_ = State::kProven;
  wire::pb::Proof proof;
  proof.set_proof(std::string(AsText(Prove(options_.secret, ProofSide::kConnector, greeting_))));
  greeting_ = {};
  SendNow(wire::Kind::kProof, ControlBody(proof), {});
}

// A stranger must not end this node: one that has had the right secret waits for its own peer.
void Link::OnUnproven(const Status& why) {
  told_to_wait_ = false;
  return secret_is_right_ || why.code() == StatusCode::kUnavailable ? Lose(why) : Fail(why);
}

void Link::OnWelcome(std::span<const std::byte> body) {
  wire::pb::Welcome welcome;
  if (Status parsed = ParseControl(wire::Kind::kWelcome, body, welcome); !parsed.ok()) return Lose(parsed);
  if (!welcome.error().empty()) {
    const Status refusal = StatusFromWire(welcome.error_code(), welcome.error());
    // Not now, but perhaps soon: the usual limit decides. One that had welcomed this link before and finds it
    // wrong now is another process: the port of one that died may be another job's, until the next is
    // elsewhere.
    const bool is_another = was_up_ && refusal.code() == StatusCode::kInvalidArgument;
    told_to_wait_ = is_another || refusal.code() == StatusCode::kUnavailable;
    return told_to_wait_ ? Lose(refusal) : Fail(refusal);
  }
  told_to_wait_ = false;
  if (welcome.version() < wire::kVersionMin || welcome.version() > wire::kVersionMax) {
    return Fail(Protocol("{} at {} chose protocol version {}, wanted one of {}-{}", peer_, address_,
                         welcome.version(), wire::kVersionMin, wire::kVersionMax));
  }
  SayIfNotShared(welcome.host_key());
  env_.timers.Cancel(std::exchange(timer_, {}));
  env_.transport.SetLimits(connection_, {options_.body_bytes_max, options_.payload_bytes_max});
  state_ = State::kUp;
  was_up_ = true;
  backoff_ = options_.backoff_min;
  ArmBeat();
  events_.OnUp(link_, welcome);
}

// A process on this host that no memory is shared with: two containers with a network of their own each, say.
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

// Sends do not move the timer: it looks at the clock when it fires, and is set for what is then due.
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
