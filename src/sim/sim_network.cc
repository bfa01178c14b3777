#include "sim/sim_network.h"

#include <algorithm>

#include "base/check.h"
#include "base/errors.h"
#include "sim/sim_transport.h"
#include "wire/kind.h"
#include "wire/messages.h"

namespace leeway::sim {
namespace {

using State = ConnectionEnd::State;

// How long an end takes to learn that its connection was torn: mostly soon, sometimes so late that its peer
// is back under a new connection before.
constexpr Duration kLearnMean = std::chrono::milliseconds(1);
constexpr Duration kLearnLate = std::chrono::milliseconds(150);
constexpr double kLearnLateShare = 0.15;

// Does the frame tell a worker what became of a push?
bool CarriesVerdict(std::uint8_t kind, std::span<const std::byte> body) {
  if (kind != static_cast<std::uint8_t>(wire::Kind::kVerdicts)) return false;
  wire::Verdicts verdicts;
  if (!wire::Decode(body, 0, verdicts).ok()) return false;
  return std::any_of(verdicts.entries.begin(), verdicts.entries.end(),
                     [](const wire::VerdictEntry& entry) { return wire::ConsumesSeq(entry.verdict); });
}

}  // namespace

SimNetwork::SimNetwork(EventQueue& queue, const NetworkOptions& options, std::uint64_t seed, TraceHash& trace)
    : queue_(queue),
      options_(options),
      random_(Hash64({seed, 1})),
      links_(MakeNicLinks(options.nic, Hash64({seed, 2}))),
      trace_(trace) {}

SimNetwork::~SimNetwork() = default;

std::unique_ptr<Transport> SimNetwork::MakeTransport(HostId host, const Clock& clock) {
  return std::make_unique<SimTransport>(*this, host, clock);
}

HostId SimNetwork::AddHost() { return HostId(hosts_++); }

Result<std::string> SimNetwork::Listen(HostId host, const void* owner, const std::string& address,
                                       TransportEvents& events) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    return InvalidArgument("address \"{}\": wanted \"host:port\"", address);
  }
  std::string bound = address;
  if (address.substr(colon + 1) == "0") bound = fmt::format("{}:{}", address.substr(0, colon), next_port_++);
  if (!listeners_.try_emplace(bound, Listener{host, owner, &events}).second) {
    return FailedPrecondition("cannot listen at {}: the address is in use", bound);
  }
  return bound;
}

ConnectionId SimNetwork::Connect(HostId host, const void* owner, const std::string& address,
                                 TransportEvents& events) {
  auto connection = std::make_shared<Connection>();
  connection->number = next_connection_++;
  connection->address = address;
  const ConnectionId id = IdOf(connection->number, 0);
  connection->ends[0] =
      std::make_unique<ConnectionEnd>(id, host, owner, State::kConnecting, &events, queue_, trace_);
  connections_[connection->number] = connection;
  ++counters_.connects;
  queue_.After(OneWay(), [this, connection] { TryAccept(connection); });
  return id;
}

void SimNetwork::TryAccept(const ConnectionRef& connection) {
  ConnectionEnd& near = *connection->ends[0];
  if (near.state == State::kClosed) return EraseIfOver(connection);
  const auto found = listeners_.find(connection->address);
  if (found != listeners_.end()) {
    const Duration open = impairments_.StalledUntil(near.host, found->second.host, queue_.now());
    if (open > queue_.now()) {
      queue_.At(open + OneWay(), [this, connection] { TryAccept(connection); });
      return;
    }
  }
  if (found == listeners_.end() || impairments_.IsRefused(found->second.host, queue_.now())) {
    queue_.After(OneWay(), [this, connection] {
      End(connection, 0, Unavailable("cannot connect to {}: connection refused", connection->address));
    });
    return;
  }
  const ConnectionId id = IdOf(connection->number, 1);
  const Listener listener = found->second;
  connection->ends[1] = std::make_unique<ConnectionEnd>(id, listener.host, listener.owner, State::kOpen,
                                                        listener.events, queue_, trace_);
  Signal(connection, 1, Chunk::Kind::kConnected, OneWay());
  listener.events->OnAccepted(id, fmt::format("host-{}:{}", near.host.value(), 40'000 + connection->number));
}

void SimNetwork::Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
                      std::span<const Pinned> payload, const FrameOrder& order) {
  const ConnectionRef connection = Find(id);
  if (connection == nullptr) return;
  ConnectionEnd& end = *connection->ends[SideOf(id)];
  if (end.state != State::kConnecting && end.state != State::kOpen) return;
  FrameHead head{.kind = kind, .body_bytes = static_cast<std::uint32_t>(body.size()), .payload_bytes = 0};
  for (const Pinned& part : payload) head.payload_bytes += part.bytes.size();
  end.out.Queue(head, body, payload, CarriesVerdict(kind, body), order);
  if (end.state == State::kOpen) ScheduleLeave(connection, SideOf(id), queue_.now());
}

void SimNetwork::SendRaw(ConnectionId id, std::span<const std::byte> bytes) {
  const ConnectionRef connection = Find(id);
  if (connection == nullptr) return;
  ConnectionEnd& end = *connection->ends[SideOf(id)];
  if (end.state != State::kConnecting && end.state != State::kOpen) return;
  end.out.QueueRaw(bytes);
  if (end.state == State::kOpen) ScheduleLeave(connection, SideOf(id), queue_.now());
}

void SimNetwork::SetLimits(ConnectionId id, const FrameLimits& limits) {
  if (const ConnectionRef connection = Find(id)) connection->ends[SideOf(id)]->SetLimits(limits);
}

std::uint64_t SimNetwork::QueuedBytes(ConnectionId id) const {
  const ConnectionRef connection = Find(id);
  return connection == nullptr ? 0 : connection->ends[SideOf(id)]->out.bytes_queued();
}

std::optional<Duration> SimNetwork::SilentFor(ConnectionId id) const {
  const ConnectionRef connection = Find(id);
  if (connection == nullptr) return std::nullopt;
  const ConnectionEnd& end = *connection->ends[SideOf(id)];
  // The entry outlives an end that has closed until the other one has heard of it.
  const std::optional<Duration> received = end.state == State::kClosed ? std::nullopt : end.last_received();
  return received ? std::optional(queue_.now() - *received) : std::nullopt;
}

void SimNetwork::Close(ConnectionId id) {
  const ConnectionRef connection = Find(id);
  if (connection == nullptr) return;
  ConnectionEnd& end = *connection->ends[SideOf(id)];
  if (end.state != State::kConnecting && end.state != State::kOpen) return;
  // Any suffix of the bytes in flight may be lost with the connection.
  if (random_.Chance(0.5)) end.out.Tear(random_.Below(end.out.bytes_in_flight() + 1));
  Shut(connection, SideOf(id));
}

void SimNetwork::CloseAfterSend(ConnectionId id) {
  const ConnectionRef connection = Find(id);
  if (connection == nullptr) return;
  const int side = SideOf(id);
  ConnectionEnd& end = *connection->ends[side];
  if (end.state != State::kConnecting && end.state != State::kOpen) return;
  if (end.out.bytes_queued() == 0) return Shut(connection, side);
  end.state = end.state == State::kOpen ? State::kDraining : State::kHasty;
  end.events = nullptr;
  queue_.After(options_.drain_limit, [this, connection, side] {
    if (connection->ends[side]->state != State::kClosed) Shut(connection, side);
  });
}

void SimNetwork::Forget(const void* owner) {
  std::erase_if(listeners_, [&](const auto& entry) { return entry.second.owner == owner; });
  std::vector<ConnectionRef> all;
  for (const auto& [number, connection] : connections_) all.push_back(connection);
  for (const ConnectionRef& connection : all) {
    for (int side = 0; side < 2; ++side) {
      const ConnectionEnd* end = connection->ends[side].get();
      if (end != nullptr && end->owner == owner && end->state != State::kClosed) Shut(connection, side);
    }
  }
}

void SimNetwork::Cut(std::uint64_t number) {
  const auto found = connections_.find(number);
  if (found == connections_.end() || found->second->torn || !found->second->Live()) return;
  const ConnectionRef connection = found->second;
  connection->torn = true;
  ++counters_.cuts;
  for (int side = 0; side < 2; ++side) {
    Pipe& out = connection->ends[side]->out;
    // Often all or none of the bytes in flight arrive; else the tear falls at any byte.
    const std::uint64_t flying = out.bytes_in_flight();
    const std::uint64_t keep = random_.Chance(0.7)   ? random_.Below(flying + 1)
                               : random_.Chance(0.5) ? flying
                                                     : 0;
    out.Tear(keep);
    const Duration learn = random_.Chance(kLearnLateShare) ? random_.Between(Duration::zero(), kLearnLate)
                                                           : random_.Exponential(kLearnMean);
    Signal(connection, side, Chunk::Kind::kReset, learn);
  }
}

std::vector<SimNetwork::LiveConnection> SimNetwork::Live() const {
  std::vector<LiveConnection> live;
  for (const auto& [number, connection] : connections_) {
    if (connection->Live() && !connection->torn) {
      live.push_back({number, {connection->ends[0]->host, connection->ends[1]->host}});
    }
  }
  return live;
}

std::size_t SimNetwork::ChunkBytes(std::uint64_t queued) {
  const std::uint64_t most = std::min<std::uint64_t>(queued, options_.chunk_bytes_max);
  return random_.Chance(0.5) ? most : random_.Between(1, most);
}

void SimNetwork::ScheduleLeave(const ConnectionRef& connection, int side, Duration when) {
  if (connection->ends[side]->leave_due) return;
  connection->ends[side]->leave_due = true;
  queue_.At(when, [this, connection, side] { Leave(connection, side); });
}

void SimNetwork::Leave(const ConnectionRef& connection, int side) {
  ConnectionEnd& end = *connection->ends[side];
  const ConnectionEnd& other = *connection->ends[1 - side];
  const bool full = !end.out.torn() && end.out.bytes_in_flight() >= options_.window_bytes;
  if (end.state == State::kClosed || end.out.bytes_queued() == 0 || full) {
    end.leave_due = false;
    return;
  }
  Chunk chunk;
  // `leave_due` stays set meanwhile: a dropped pin may make the node send more.
  chunk.bytes = end.out.Leave(ChunkBytes(end.out.bytes_queued()));
  end.leave_due = false;
  counters_.bytes += chunk.bytes.size();
  const Passage passage = links_->Carry(end.host, other.host, chunk.bytes.size(), queue_.now());
  chunk.arrives = passage.arrives + impairments_.ExtraDelay(end.host, other.host, queue_.now());
  end.out.Fly(std::move(chunk));
  if (end.out.flying()) ScheduleLanding(connection, side, end.out.next_arrival());
  if (end.out.bytes_queued() > 0) {
    ScheduleLeave(connection, side, passage.left);
  } else if (end.state == State::kDraining) {
    return Shut(connection, side);
  }
  if (watcher_ != nullptr && connection->Live())
    watcher_->OnLeft(connection->number, end.out.VerdictUnderWay());
}

void SimNetwork::ScheduleLanding(const ConnectionRef& connection, int side, Duration when) {
  if (connection->ends[side]->landing_due) return;
  connection->ends[side]->landing_due = true;
  queue_.At(when, [this, connection, side] { Land(connection, side); });
}

void SimNetwork::Land(const ConnectionRef& connection, int side) {
  ConnectionEnd& end = *connection->ends[side];
  end.landing_due = false;
  if (!end.out.flying()) return;
  const ConnectionEnd& other = *connection->ends[1 - side];
  // A tear may have taken away the chunk that this event was for.
  const Duration due =
      std::max(end.out.next_arrival(), impairments_.StalledUntil(end.host, other.host, queue_.now()));
  if (due > queue_.now()) return ScheduleLanding(connection, side, due);
  Deliver(connection, 1 - side, end.out.Land());
  if (end.out.flying()) ScheduleLanding(connection, side, end.out.next_arrival());
  if (end.out.bytes_queued() > 0) ScheduleLeave(connection, side, queue_.now());
}

void SimNetwork::Deliver(const ConnectionRef& connection, int to, Chunk chunk) {
  ConnectionEnd& end = *connection->ends[to];
  if (end.state == State::kClosed) return;
  switch (chunk.kind) {
    case Chunk::Kind::kConnected:
      if (end.out.bytes_queued() > 0) ScheduleLeave(connection, to, queue_.now());
      if (end.state == State::kHasty) {
        end.state = State::kDraining;
        return;
      }
      end.state = State::kOpen;
      return end.events->OnConnected(end.id);
    case Chunk::Kind::kBytes:
      if (Status received = end.Receive(chunk.bytes); !received.ok()) {
        TransportEvents* const events = end.events;
        Shut(connection, to);
        if (events != nullptr) events->OnClosed(end.id, received);
      }
      return;
    case Chunk::Kind::kClosed:
    case Chunk::Kind::kReset: {
      const bool inside = !end.AtBoundary();
      if (chunk.kind == Chunk::Kind::kReset && inside) ++counters_.cuts_inside_frame;
      return End(connection, to,
                 Unavailable("the connection to {} was {}{}", to == 0 ? connection->address : "the peer",
                             chunk.kind == Chunk::Kind::kReset ? "reset" : "closed by it",
                             inside ? ", in the middle of a frame" : ""));
    }
  }
}

void SimNetwork::Signal(const ConnectionRef& connection, int side, Chunk::Kind kind, Duration delay) {
  Pipe& out = connection->ends[side]->out;
  out.Fly({kind, queue_.now() + delay, {}});
  ScheduleLanding(connection, side, out.next_arrival());
}

void SimNetwork::End(const ConnectionRef& connection, int side, const Status& why) {
  ConnectionEnd& end = *connection->ends[side];
  if (end.state == State::kClosed) return;
  trace_.Note(queue_.now(), end.id, 0xC105ED);
  TransportEvents* const events = end.events;
  end.Shut();
  EraseIfOver(connection);
  if (events != nullptr) events->OnClosed(end.id, why);
}

void SimNetwork::Shut(const ConnectionRef& connection, int side) {
  connection->ends[side]->Shut();
  // A torn connection tells its ends by itself.
  if (connection->ends[1 - side] != nullptr && !connection->torn) {
    Signal(connection, side, Chunk::Kind::kClosed, OneWay());
  }
  EraseIfOver(connection);
}

void SimNetwork::EraseIfOver(const ConnectionRef& connection) {
  const auto& ends = connection->ends;
  if (ends[0]->state != State::kClosed) return;
  if (ends[1] != nullptr) {
    if (ends[1]->state != State::kClosed) return;
    const bool lost = ends[0]->out.VerdictUnderWay() || ends[1]->out.VerdictUnderWay();
    if (connections_.erase(connection->number) > 0 && lost) ++counters_.verdicts_lost;
    return;
  }
  connections_.erase(connection->number);
}

ConnectionRef SimNetwork::Find(ConnectionId id) const {
  if (id.value() == 0) return nullptr;
  const auto found = connections_.find((id.value() - 1) / 2);
  if (found == connections_.end() || found->second->ends[SideOf(id)] == nullptr) return nullptr;
  return found->second;
}

Duration SimNetwork::OneWay() { return options_.nic.latency + random_.Exponential(options_.nic.jitter_mean); }

}  // namespace leeway::sim
