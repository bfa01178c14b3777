#include "transport/stream/stream_transport.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/errors.h"

namespace leeway {
namespace {

std::string TextOf(const HostKey& key) {
  std::string text;
  for (const std::byte b : key) text += fmt::format("{:02x}", std::to_integer<int>(b));
  return text;
}

}  // namespace

StreamTransport::StreamTransport(EventLoop& loop, const Clock& clock, Timers& timers, Log& log,
                                 Random& random, SharedArena& arena, const StreamOptions& options)
    : loop_(loop),
      timers_(timers),
      log_(log),
      random_(random),
      arena_(arena),
      options_(options),
      look_ups_(loop, "leeway-look-up"),
      host_(ReadHostKey()),
      host_text_(host_.ok() ? TextOf(*host_) : ""),
      accept_log_(clock, log) {
  loop_.SetTurnEnd([this] { OnTurnEnd(); });
}

StreamTransport::~StreamTransport() {
  loop_.SetTurnEnd({});
  loop_.SetInput(nullptr);
  // Frames of the last turn, a goodbye above all, get their one chance to leave.
  OnTurnEnd();
}

Result<std::string> StreamTransport::Listen(const std::string& address, TransportEvents& events) {
  auto accepted = [this, &events](Socket socket, const std::string& peer) {
    const ConnectionId id = Add(events);
    Find(id)->Adopt(std::move(socket), peer);
    events.OnAccepted(id, peer);
  };
  if (IsLocal(address)) return ListenLocal(address, accepted);
  LW_ASSIGN_OR_RETURN(auto listener,
                      StreamListener::Listen(loop_, timers_, accept_log_, options_, address, accepted));
  const SocketAddress at = listener->address();
  if (options_.carrier != leeway::Carrier::kTcp) {
    Result<std::unique_ptr<StreamListener>> local =
        StreamListener::ListenLocal(loop_, timers_, accept_log_, SocketAddress::LocalOf(at),
                                    "the Unix socket of " + at.ToString(), accepted);
    if (local.ok()) {
      listeners_.push_back(*std::move(local));
    } else if (options_.carrier == leeway::Carrier::kAuto) {
      log_.Write(LogLevel::kWarning,
                 local.status().message() + "; who is on this host comes over TCP as well");
    } else {
      return local.status();
    }
  }
  listeners_.push_back(std::move(listener));
  return at.ToString();
}

Result<std::string> StreamTransport::ListenLocal(const std::string& address,
                                                 const StreamListener::Accepted& accepted) {
  LW_ASSIGN_OR_RETURN(std::string name, ParseLocal(address));
  if (options_.carrier == leeway::Carrier::kTcp)
    return InvalidArgument("cannot listen at {}: the transport is tcp, wanted host:port", address);
  // Names are seen by every user of the host, but nobody can take this one before it is there.
  if (name.empty()) name = fmt::format("{:016x}{:016x}", random_.Next(), random_.Next());
  const std::string bound = std::string(kLocalPrefix) + name;
  LW_ASSIGN_OR_RETURN(
      auto listener,
      StreamListener::ListenLocal(loop_, timers_, accept_log_, SocketAddress::Local(name), bound, accepted));
  listeners_.push_back(std::move(listener));
  return bound;
}

ConnectionId StreamTransport::Connect(const std::string& address, TransportEvents& events) {
  const ConnectionId id = Add(events);
  Find(id)->Connect(address);
  return id;
}

void StreamTransport::Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
                           std::span<const Pinned> payload, const FrameOrder& order) {
  if (StreamConnection* connection = Find(id)) connection->Send(kind, body, payload, order);
}

void StreamTransport::SetLimits(ConnectionId id, const FrameLimits& limits) {
  if (StreamConnection* connection = Find(id)) connection->SetLimits(limits);
}

void StreamTransport::Close(ConnectionId id) {
  if (StreamConnection* connection = Find(id)) connection->Abandon();
}

void StreamTransport::CloseAfterSend(ConnectionId id) {
  if (StreamConnection* connection = Find(id)) connection->Linger();
}

std::uint64_t StreamTransport::QueuedBytes(ConnectionId id) const {
  const StreamConnection* connection = Find(id);
  return connection == nullptr ? 0 : connection->QueuedBytes();
}

TimePoint StreamTransport::LastReceived(ConnectionId id) const {
  const StreamConnection* connection = Find(id);
  return connection == nullptr ? TimePoint::min() : connection->last_received();
}

std::string_view StreamTransport::Carrier(ConnectionId id) const {
  const StreamConnection* connection = Find(id);
  return connection == nullptr ? std::string_view() : connection->carrier();
}

std::string StreamTransport::WhyNotShared(ConnectionId id) const {
  const StreamConnection* connection = Find(id);
  return connection == nullptr ? "" : connection->why_not_shared();
}

std::unique_ptr<SharedExchange> StreamTransport::MakeExchange() {
  if (!host_.ok()) return nullptr;
  return std::make_unique<SharedExchange>(*host_, arena_, random_.Next(), options_.peer_bytes_max);
}

void StreamTransport::FlushAtTurnEnd(ConnectionId id) {
  dirty_.push_back(id);
  loop_.EnsureTurnEnd();
}

void StreamTransport::RunLater(ConnectionId id, void (StreamConnection::*step)()) {
  loop_.Post([this, id, step] {
    if (StreamConnection* connection = Find(id)) (connection->*step)();
  });
}

void StreamTransport::ResolveFor(ConnectionId id, const Endpoint& endpoint) {
  // Shared by the thread that looks it up and the loop, one after the other.
  auto found = std::make_shared<Result<std::vector<SocketAddress>>>(Unavailable("not looked up"));
  look_ups_.Run([endpoint, found] { *found = LookUp(endpoint); },
                [this, id, found] {
                  if (StreamConnection* connection = Find(id)) connection->OnResolved(*found);
                });
}

void StreamTransport::Retire(ConnectionId id) {
  retired_.push_back(std::move(slots_[SlotOf(id)].connection));
  free_slots_.push_back(static_cast<std::uint32_t>(SlotOf(id)));
  loop_.EnsureTurnEnd();
}

void StreamTransport::OnPiped(ConnectionId id) {
  piped_.push_back(id);
  loop_.SetInput(this);
}

bool StreamTransport::Poll() {
  bool any = false;
  // By index: a frame may add another.
  for (std::size_t i = 0; i < piped_.size(); ++i) {
    StreamConnection* const connection = Find(piped_[i]);
    if (connection == nullptr || !connection->PollPipe()) continue;
    any = true;
    OnTurnEnd();  // what it was answered leaves before the next one is read
  }
  return any;
}

bool StreamTransport::MaySleep() {
  std::erase_if(piped_, [this](ConnectionId id) { return Find(id) == nullptr; });
  if (piped_.empty()) loop_.SetInput(nullptr);
  for (std::size_t i = 0; i < piped_.size(); ++i) {
    if (Find(piped_[i])->shared().MaySleep()) continue;
    while (i-- > 0) Find(piped_[i])->shared().OnAwake();
    return false;
  }
  return true;
}

void StreamTransport::OnAwake() {
  for (const ConnectionId id : piped_) {
    if (StreamConnection* const connection = Find(id)) connection->shared().OnAwake();
  }
}

ConnectionId StreamTransport::Add(TransportEvents& events) {
  if (free_slots_.empty()) {
    LW_CHECK(slots_.size() < kConnectionSlots, "{} connections", slots_.size());
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  const ConnectionId id = MakeConnectionId(++slot.uses, index);
  StreamConnection::Owner& owner = *this;
  slot.connection =
      std::make_unique<StreamConnection>(ConnectionContext{loop_, timers_, options_, id, events}, owner);
  return id;
}

StreamConnection* StreamTransport::Find(ConnectionId id) const {
  const std::size_t index = SlotOf(id);
  if (index >= slots_.size() || slots_[index].uses != UseOf(id)) return nullptr;
  return slots_[index].connection.get();
}

void StreamTransport::OnTurnEnd() {
  // By index: a pin dropped here may queue more.
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    if (StreamConnection* connection = Find(dirty_[i])) connection->Flush();
  }
  dirty_.clear();
  // Swapped out first: what a dropped pin or lease does may retire others.
  const std::vector<std::unique_ptr<StreamConnection>> dead = std::exchange(retired_, {});
}

}  // namespace leeway
