#include "transport/tcp/tcp_transport.h"

#include <utility>

namespace leeway {
namespace {

constexpr int kSlotBits = 24;
constexpr std::uint64_t kSlotMask = (std::uint64_t{1} << kSlotBits) - 1;

std::size_t SlotOf(ConnectionId id) { return static_cast<std::size_t>(id.value() & kSlotMask); }
std::uint64_t GenerationOf(ConnectionId id) { return id.value() >> kSlotBits; }

}  // namespace

TcpTransport::TcpTransport(EventLoop& loop, Timers& timers, Log& log, const TcpOptions& options)
    : loop_(loop), timers_(timers), log_(log), options_(options) {
  loop_.SetTurnEnd([this] { OnTurnEnd(); });
}

TcpTransport::~TcpTransport() {
  loop_.SetTurnEnd({});
  // What was queued in the last turn, a goodbye above all, gets its one chance.
  OnTurnEnd();
}

Result<std::string> TcpTransport::Listen(const std::string& address, TransportEvents& events) {
  auto accepted = [this, &events](Socket socket, const std::string& peer) {
    const ConnectionId id = Add(events);
    Find(id)->Adopt(std::move(socket), peer);
    events.OnAccepted(id, peer);
  };
  LW_ASSIGN_OR_RETURN(auto listener,
                      TcpListener::Listen(loop_, timers_, log_, options_, address, std::move(accepted)));
  listeners_.push_back(std::move(listener));
  return listeners_.back()->address();
}

ConnectionId TcpTransport::Connect(const std::string& address, TransportEvents& events) {
  const ConnectionId id = Add(events);
  Find(id)->Connect(address);
  return id;
}

void TcpTransport::Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
                        std::span<const Pinned> payload) {
  if (TcpConnection* connection = Find(id)) connection->Send(kind, body, payload);
}

void TcpTransport::SetLimits(ConnectionId id, const FrameLimits& limits) {
  if (TcpConnection* connection = Find(id)) connection->SetLimits(limits);
}

void TcpTransport::Close(ConnectionId id) {
  if (TcpConnection* connection = Find(id)) connection->Abandon();
}

void TcpTransport::CloseAfterSend(ConnectionId id) {
  if (TcpConnection* connection = Find(id)) connection->Linger();
}

std::uint64_t TcpTransport::QueuedBytes(ConnectionId id) const {
  const TcpConnection* connection = Find(id);
  return connection == nullptr ? 0 : connection->QueuedBytes();
}

TimePoint TcpTransport::LastReceived(ConnectionId id) const {
  const TcpConnection* connection = Find(id);
  return connection == nullptr ? TimePoint::min() : connection->last_received();
}

void TcpTransport::FlushAtTurnEnd(ConnectionId id) {
  dirty_.push_back(id);
  loop_.EnsureTurnEnd();
}

void TcpTransport::RunLater(ConnectionId id, void (TcpConnection::*step)()) {
  loop_.Post([this, id, step] {
    if (TcpConnection* connection = Find(id)) (connection->*step)();
  });
}

TimerId TcpTransport::RunAfter(Duration delay, ConnectionId id, void (TcpConnection::*step)()) {
  return timers_.After(delay, [this, id, step] {
    if (TcpConnection* connection = Find(id)) (connection->*step)();
  });
}

void TcpTransport::ResolveFor(ConnectionId id, const Endpoint& endpoint) {
  loop_.Resolve(endpoint, [this, id](Result<std::vector<SocketAddress>> found) {
    if (TcpConnection* connection = Find(id)) connection->OnResolved(std::move(found));
  });
}

void TcpTransport::Retire(ConnectionId id) {
  retired_.push_back(std::move(slots_[SlotOf(id)].connection));
  free_slots_.push_back(static_cast<std::uint32_t>(SlotOf(id)));
  loop_.EnsureTurnEnd();
}

ConnectionId TcpTransport::Add(TransportEvents& events) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  const ConnectionId id(++slot.generation << kSlotBits | index);
  TcpConnection::Owner& owner = *this;
  slot.connection = std::make_unique<TcpConnection>(loop_, owner, options_, id, events);
  return id;
}

TcpConnection* TcpTransport::Find(ConnectionId id) const {
  const std::size_t index = SlotOf(id);
  if (index >= slots_.size() || slots_[index].generation != GenerationOf(id)) return nullptr;
  return slots_[index].connection.get();
}

void TcpTransport::OnTurnEnd() {
  // By index: a pin dropped here may queue more.
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    if (TcpConnection* connection = Find(dirty_[i])) connection->Flush();
  }
  dirty_.clear();
  // Swapped out first: what a dropped pin or lease does may retire others.
  const std::vector<std::unique_ptr<TcpConnection>> dead = std::exchange(retired_, {});
}

}  // namespace leeway
