#include "node/inbound.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/errors.h"
#include "node/control_frame.h"
#include "node/own_pause.h"
#include "node/seconds.h"

namespace leeway {
namespace {

// Where the payload of a refused frame goes: the peer is told why only after a whole frame, since a transport
// that gets an error instead of a landing closes at once. Every place is the same small piece of memory.
Landing Drain(std::uint64_t payload_bytes) {
  constexpr std::uint64_t kPieceBytes = 64 * 1024;
  auto piece = std::make_shared<std::vector<std::byte>>(std::min(payload_bytes, kPieceBytes));
  Landing landing;
  for (std::uint64_t left = payload_bytes; left > 0; left -= std::min(left, kPieceBytes)) {
    landing.places.push_back(std::span(*piece).first(std::min(left, kPieceBytes)));
  }
  landing.lease = std::move(piece);
  return landing;
}

Status CheckRole(const wire::pb::Hello& hello) {
  switch (hello.role()) {
    case wire::pb::ROLE_SERVER:
    case wire::pb::ROLE_WORKER:
    case wire::pb::ROLE_MONITOR:
      return Status::Ok();
    default:
      return Protocol("hello with role {}, wanted server, worker or monitor", static_cast<int>(hello.role()));
  }
}

// A peer that is refused as Unavailable asks again, and may be welcome then.
std::string RefusalText(const std::string& peer, const Status& why) {
  return fmt::format("refused {}{}: {}", peer, why.code() == StatusCode::kUnavailable ? " for now" : "",
                     why.message());
}

wire::pb::Welcome RefusalOf(const Status& why) {
  wire::pb::Welcome refusal;
  refusal.set_error(ClippedMessage(why.message()));
  refusal.set_error_code(static_cast<std::uint32_t>(why.code()));
  return refusal;
}

}  // namespace

Inbound::Inbound(Env& env, const LinkOptions& options, std::string job, InboundEvents& events)
    : env_(env), options_(options), job_(std::move(job)), events_(events), warnings_(env.clock, env.log) {}

Inbound::~Inbound() {
  env_.timers.Cancel(beat_timer_);
  for (const ConnectionId id : peers_.Ids()) {
    env_.timers.Cancel(peers_.Find(id)->hello_timer);
    env_.transport.Close(id);
  }
  held_.Release(held_.last(), [this](const HeldFrames::Held& held) { env_.transport.Close(held.to); });
}

Result<std::string> Inbound::Listen(const std::string& address) {
  return env_.transport.Listen(address, *this);
}

void Inbound::Send(ConnectionId id, wire::Kind kind, std::span<const std::byte> body,
                   std::span<const Pinned> payload, const FrameOrder& order) {
  Peer* const peer = peers_.Find(id);
  if (peer == nullptr || peer->choked) return;
  if (!waiting_) return Transmit(id, peer, kind, body, payload, order);
  LW_CHECK(payload.empty(), "{} with a payload cannot be held", wire::KindName(kind));
  if (held_.Add(id, kind, body)) return waiting_();
  env_.log.Write(LogLevel::kWarning,
                 fmt::format("closing {}: {} bytes of frames wait for the log, and no more may",
                             peer->address, HeldFrames::kBytesMax));
  CloseNow(id);
  peer->choked = true;
}

void Inbound::Transmit(ConnectionId id, Peer* peer, wire::Kind kind, std::span<const std::byte> body,
                       std::span<const Pinned> payload, FrameOrder order) {
  if (peer != nullptr) {
    peer->last_sent = env_.clock.Now();
    if (kind == wire::Kind::kWelcome) peer->greeted = true;
  }
  if (wire::MayPassOthers(kind)) order.kind = FrameOrder::Kind::kControl;
  env_.transport.Send(id, static_cast<std::uint8_t>(kind), body, payload, order);
}

void Inbound::CloseAfterSend(ConnectionId id) {
  if (!waiting_) return env_.transport.CloseAfterSend(id);
  if (held_.AddClose(id)) return waiting_();
  CloseNow(id);  // what it was told before goes with it: its peer comes back and asks again
}

void Inbound::CloseNow(ConnectionId id) {
  env_.transport.Close(id);
  held_.Drop(id);
}

void Inbound::Hold(std::function<void()> waiting) { waiting_ = std::move(waiting); }

void Inbound::Release(std::uint64_t up_to) {
  held_.Release(up_to, [this](const HeldFrames::Held& held) { SendHeld(held); });
}

void Inbound::SendHeld(const HeldFrames::Held& held) {
  if (held.close) return env_.transport.CloseAfterSend(held.to);
  Transmit(held.to, peers_.Find(held.to), held.kind, held.body, {}, {});
}

void Inbound::EndHold(bool drop) {
  waiting_ = nullptr;
  held_.Release(held_.last(), [this, drop](const HeldFrames::Held& held) {
    if (!drop || held.close || held.kind == wire::Kind::kWelcome) SendHeld(held);
  });
}

void Inbound::SendControl(ConnectionId id, wire::Kind kind, const google::protobuf::MessageLite& message) {
  Send(id, kind, ControlBody(message));
}

void Inbound::Close(ConnectionId id, const Status& why) {
  const Peer* const peer = peers_.Find(id);
  if (peer == nullptr) return;
  if (peer->welcomed) SayGoodbye(id, why);
  CloseAfterSend(id);
  Erase(id);
}

void Inbound::CloseAll(const Status& why) {
  closed_ = true;
  warnings_.Flush();
  for (const ConnectionId id : peers_.Ids()) Close(id, why);
  env_.timers.Cancel(std::exchange(beat_timer_, {}));
}

TimePoint Inbound::last_heard(ConnectionId id) const {
  const Peer* const peer = peers_.Find(id);
  LW_CHECK(peer != nullptr, "connection {}", id.value());
  return std::max(peer->last_heard, env_.transport.LastReceived(id));
}

std::size_t Inbound::half_open() const { return half_open_; }

void Inbound::OnAccepted(ConnectionId id, const std::string& peer) {
  if (closed_) return env_.transport.Close(id);
  if (half_open_ >= kHalfOpenMax) {
    warnings_.Warn(fmt::format("{} turned away: {} connections have not said hello yet, at most {} may", peer,
                               half_open_, kHalfOpenMax));
    return env_.transport.Close(id);
  }
  ++half_open_;
  Peer& added = peers_[id];
  added.address = peer;
  added.last_heard = added.last_sent = env_.clock.Now();
  added.hello_timer = env_.timers.After(options_.hello_timeout, [this, id] {
    const Peer& late = *peers_.Find(id);
    warnings_.Warn(fmt::format("{} did not {} within {:.1f} s", late.address,
                               late.greeting == nullptr ? "say hello" : "prove the job's secret",
                               Seconds(options_.hello_timeout)));
    env_.transport.Close(id);
    Erase(id);
  });
}

// Inbound never connects.
void Inbound::OnConnected(ConnectionId) {}

Result<Landing> Inbound::OnFrameStart(ConnectionId id, const FrameHead& head,
                                      std::span<const std::byte> body) {
  Peer* const peer = peers_.Find(id);
  if (peer == nullptr || !peer->welcomed) return Protocol("a payload before the hello");
  peer->last_heard = env_.clock.Now();
  Result<Landing> landing = events_.OnFrameStart(id, head, body);
  if (landing.ok()) return landing;
  peer->refusal = landing.status();
  return Drain(head.payload_bytes);
}

void Inbound::OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                      Landing&& landing) {
  Peer* const found = peers_.Find(id);
  if (found == nullptr) return;
  Peer& peer = *found;
  peer.last_heard = env_.clock.Now();
  const auto kind = static_cast<wire::Kind>(head.kind);
  if (!peer.welcomed) {
    if (const Status taken = OnFrameBeforeWelcome(id, kind, body); !taken.ok()) RefuseUnproven(id, taken);
    return;
  }
  if (!peer.refusal.ok()) return CutOff(id, Status(peer.refusal));
  switch (kind) {
    case wire::Kind::kPing:
      return Transmit(id, &peer, wire::Kind::kPong, {}, {});
    case wire::Kind::kPong:
      return;
    case wire::Kind::kGoodbye:
      return OnGoodbye(id, body);
    case wire::Kind::kHello:
    case wire::Kind::kWelcome:
    case wire::Kind::kChallenge:
    case wire::Kind::kProof:
      return CutOff(id, Protocol("{} after the hello", wire::KindName(kind)));
    default:
      if (Status taken = events_.OnFrame(id, head, body, std::move(landing)); !taken.ok()) CutOff(id, taken);
  }
}

void Inbound::OnClosed(ConnectionId id, const Status& why) {
  held_.Drop(id);
  // The transport could not read it: an oversized frame, or bytes that are no header.
  const Parting how = why.code() == StatusCode::kProtocol ? Parting::kCutOff : Parting::kLost;
  if (const Peer* const peer = peers_.Find(id); how == Parting::kCutOff && peer != nullptr) {
    warnings_.Warn(fmt::format("cut off {}: {}", peer->address, why.message()));
  }
  Forget(id, how, why.ok() ? Unavailable("the connection was closed") : why);
}

Status Inbound::OnFrameBeforeWelcome(ConnectionId id, wire::Kind kind, std::span<const std::byte> body) {
  const Peer& peer = *peers_.Find(id);
  const wire::Kind wanted = peer.greeting == nullptr ? wire::Kind::kHello : wire::Kind::kProof;
  if (kind != wanted)
    return Protocol("{} frame was {}, wanted {}", peer.greeting == nullptr ? "the first" : "the second",
                    wire::KindName(kind), wire::KindName(wanted));
  if (peer.greeting == nullptr) return Challenge(id, body);
  LW_RETURN_IF_ERROR(CheckProof(*peer.greeting, body));
  Greet(id);
  return Status::Ok();
}

Status Inbound::Challenge(ConnectionId id, std::span<const std::byte> body) {
  wire::pb::Hello hello;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kHello, body, hello));
  if (hello.version_min() > wire::kVersionMax || hello.version_max() < wire::kVersionMin) {
    return Protocol("no common protocol version: you speak {}-{}, this node speaks {}-{}",
                    hello.version_min(), hello.version_max(), wire::kVersionMin, wire::kVersionMax);
  }
  LW_RETURN_IF_ERROR(CheckRole(hello));
  auto greeting = std::make_unique<Greeting>();
  if (!TakeNonce(hello.nonce(), greeting->connector)) {
    return Protocol(
        "hello with a nonce of {} bytes, wanted {}: this node asks every peer to prove that it knows the "
        "job's secret",
        hello.nonce().size(), kNonceBytes);
  }
  greeting->listener = DrawNonce(env_.random);
  greeting->hello.assign(body.begin(), body.end());
  wire::pb::Challenge challenge;
  challenge.set_nonce(std::string(AsText(greeting->listener)));
  challenge.set_proof(std::string(AsText(Prove(options_.secret, ProofSide::kListener, *greeting))));
  Peer* const peer = peers_.Find(id);
  peer->greeting = std::move(greeting);
  Transmit(id, peer, wire::Kind::kChallenge, ControlBody(challenge), {});
  return Status::Ok();
}

Status Inbound::CheckProof(const Greeting& greeting, std::span<const std::byte> body) const {
  wire::pb::Proof proof;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kProof, body, proof));
  if (IsProof(proof.proof(), options_.secret, ProofSide::kConnector, greeting)) return Status::Ok();
  return InvalidArgument(
      "this node did not accept the proof of the job's secret: give the file with that secret (--secret-file "
      "or "
      "LEEWAY_SECRET_FILE), or --insecure (LEEWAY_INSECURE=1) if the job was started so");
}

void Inbound::Greet(ConnectionId id) {
  const std::unique_ptr<Greeting> greeting = std::move(peers_.Find(id)->greeting);
  Result<wire::pb::Welcome> welcome = Admit(id, greeting->hello);
  Peer* const peer = peers_.Find(id);
  if (peer == nullptr) return;  // the node closed it
  if (!welcome.ok()) return Refuse(id, welcome.status());
  peer->welcomed = true;
  --half_open_;
  env_.timers.Cancel(std::exchange(peer->hello_timer, {}));
  env_.transport.SetLimits(id, {options_.body_bytes_max, options_.payload_bytes_max});
  SendControl(id, wire::Kind::kWelcome, *welcome);
  ArmBeat();
  events_.OnWelcomed(id);
}

Result<wire::pb::Welcome> Inbound::Admit(ConnectionId id, std::span<const std::byte> body) {
  wire::pb::Hello hello;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kHello, body, hello));
  // Someone who only asks for status need not know the job's name.
  const bool any_job = hello.role() == wire::pb::ROLE_MONITOR && hello.job().empty();
  if (!any_job && hello.job() != job_) {
    return InvalidArgument("this node belongs to another job: got job \"{}\", wanted \"{}\"", hello.job(),
                           job_);
  }
  LW_ASSIGN_OR_RETURN(wire::pb::Welcome welcome, events_.OnHello(id, hello));
  welcome.set_version(std::min(hello.version_max(), wire::kVersionMax));
  welcome.set_host_key(std::string(env_.transport.Host()));
  return welcome;
}

void Inbound::Refuse(ConnectionId id, const Status& why) {
  warnings_.WarnOnce(RefusalText(peers_.Find(id)->address, why));
  SendControl(id, wire::Kind::kWelcome, RefusalOf(why));
  CloseAfterSend(id);
  Erase(id);
}

void Inbound::RefuseUnproven(ConnectionId id, const Status& why) {
  Peer* const peer = peers_.Find(id);
  warnings_.WarnOnce(RefusalText(peer->address, why));
  Transmit(id, peer, wire::Kind::kWelcome, ControlBody(RefusalOf(why)), {});
  env_.transport.CloseAfterSend(id);
  Erase(id);
}

void Inbound::CutOff(ConnectionId id, const Status& why) {
  const Peer* const peer = peers_.Find(id);
  if (peer == nullptr) return;  // the node closed it
  warnings_.Warn(fmt::format("cut off {}: {}", peer->address, why.message()));
  SayGoodbye(id, why);
  CloseAfterSend(id);
  Forget(id, Parting::kCutOff, why);
}

void Inbound::SayGoodbye(ConnectionId id, const Status& why) {
  SendControl(id, wire::Kind::kGoodbye, GoodbyeOf(why));
}

bool Inbound::Erase(ConnectionId id) {
  const Peer* const peer = peers_.Find(id);
  if (peer == nullptr) return false;
  const bool welcomed = peer->welcomed;
  env_.timers.Cancel(peer->hello_timer);
  if (!welcomed) --half_open_;
  peers_.Erase(id);
  return welcomed;
}

void Inbound::Forget(ConnectionId id, Parting how, const Status& why) {
  if (Erase(id)) events_.OnGone(id, how, why);
}

void Inbound::OnGoodbye(ConnectionId id, std::span<const std::byte> body) {
  wire::pb::Goodbye goodbye;
  if (Status parsed = ParseControl(wire::Kind::kGoodbye, body, goodbye); !parsed.ok())
    return CutOff(id, parsed);
  CloseNow(id);
  Forget(id, Parting::kGoodbye,
         goodbye.code() == 0 ? Status::Ok() : StatusFromWire(goodbye.code(), goodbye.message()));
}

void Inbound::ArmBeat() {
  if (beat_timer_ != TimerId{} || peers_.empty()) return;
  beat_due_ = env_.clock.Now() + options_.beat;
  beat_timer_ = env_.timers.After(options_.beat, [this] {
    beat_timer_ = {};
    OnBeat();
  });
}

void Inbound::OnBeat() {
  const TimePoint now = env_.clock.Now();
  const Duration pause = OwnPause(beat_due_, now, options_.beat);
  std::vector<std::pair<ConnectionId, Duration>> silent;
  for (const ConnectionId id : peers_.Ids()) {
    Peer& peer = *peers_.Find(id);
    if (!peer.welcomed) continue;
    peer.last_heard = std::min(now, last_heard(id) + pause);
    if (peer.choked || now - peer.last_heard >= options_.silence_max) {
      silent.emplace_back(id, now - peer.last_heard);
    } else if (peer.greeted && now - peer.last_sent >= options_.beat) {
      Transmit(id, &peer, wire::Kind::kPing, {}, {});
    }
  }
  // No goodbye: a peer that was only stopped for a while finds the connection closed and comes back.
  for (const auto& [id, since] : silent) {
    CloseNow(id);
    Forget(id, Parting::kLost, Unavailable("silent for {:.1f} s", Seconds(since)));
  }
  ArmBeat();
}

}  // namespace leeway
