#include "sim/flow/flow_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "sim/nanoseconds.h"
#include "wire/frame.h"
#include "wire/kind.h"

namespace leeway::sim {
namespace {

constexpr std::size_t kViewAlignment = 4;

bool IsReadable(std::span<const std::byte> view) {
  const auto address = reinterpret_cast<std::uintptr_t>(view.data());
  return address % kViewAlignment == 0 && view.size() % kViewAlignment == 0;
}

void CopyInto(std::span<const std::span<std::byte>> places,
              std::span<const std::span<const std::byte>> views) {
  std::size_t place = 0, filled = 0;
  for (std::span<const std::byte> view : views) {
    while (!view.empty()) {
      if (filled == places[place].size()) {
        ++place;
        filled = 0;
        continue;
      }
      const std::size_t n = std::min(view.size(), places[place].size() - filled);
      std::memcpy(places[place].data() + filled, view.data(), n);
      filled += n;
      view = view.subspan(n);
    }
  }
}

}  // namespace

// The Transport of one node: a thin view of the network, and how long the node is busy.
class FlowNetwork::NodeTransport final : public Transport {
 public:
  NodeTransport(FlowNetwork& network, HostId its_host, const Clock& clock)
      : host(its_host), network_(network), clock_(clock) {}
  ~NodeTransport() override { network_.Forget(*this); }
  NodeTransport(const NodeTransport&) = delete;
  NodeTransport& operator=(const NodeTransport&) = delete;

  Result<std::string> Listen(const std::string& address, TransportEvents& events) override {
    return network_.Listen(*this, address, events);
  }
  ConnectionId Connect(const std::string& address, TransportEvents& events) override {
    return network_.Connect(*this, address, events);
  }
  void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
            std::span<const Pinned> payload) override {
    network_.Send(id, kind, body, payload);
  }
  void SetLimits(ConnectionId id, const FrameLimits& limits) override { network_.SetLimits(id, limits); }
  void Close(ConnectionId id) override { network_.Close(id); }
  void CloseAfterSend(ConnectionId id) override { network_.CloseAfterSend(id); }
  [[nodiscard]] std::uint64_t QueuedBytes(ConnectionId id) const override {
    return network_.Knows(id) ? network_.at(IndexOf(id)).queued_bytes : 0;
  }
  [[nodiscard]] TimePoint LastReceived(ConnectionId id) const override {
    if (!network_.Knows(id)) return TimePoint::min();
    const End& end = network_.at(IndexOf(id));
    if (end.state == State::kClosed || end.last_received < Duration::zero()) return TimePoint::min();
    return clock_.Now() - (network_.queue_.now() - end.last_received);
  }
  [[nodiscard]] std::string_view Carrier(ConnectionId id) const override {
    return network_.Knows(id) && network_.at(IndexOf(id)).state == State::kOpen ? "sim" : "";
  }
  [[nodiscard]] std::string_view Host() const override { return ""; }

  const HostId host;
  std::vector<EndIndex> ends;      // ever opened
  Duration busy_until{0};          // without shared cores
  std::unique_ptr<WorkLine> line;  // on shared cores; made by the first work

 private:
  FlowNetwork& network_;
  const Clock& clock_;
};

FlowNetwork::FlowNetwork(EventQueue& queue, const FlowOptions& options) : queue_(queue), options_(options) {}
FlowNetwork::~FlowNetwork() = default;

HostId FlowNetwork::AddHost() {
  const HostId host(static_cast<std::uint32_t>(cards_.size()));
  cards_.push_back(std::make_unique<Card>(options_.host_model ? options_.host_model(host) : HostModel{}));
  return host;
}

bool FlowNetwork::IsCarrying() const {
  return std::ranges::any_of(cards_, [](const std::unique_ptr<Card>& card) {
    return card->out.link.NextEnd().has_value() || card->in.link.NextEnd().has_value();
  });
}

std::unique_ptr<Transport> FlowNetwork::MakeTransport(HostId host, const Clock& clock) {
  return std::make_unique<NodeTransport>(*this, host, clock);
}

Result<std::string> FlowNetwork::Listen(NodeTransport& node, const std::string& address,
                                        TransportEvents& events) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return InvalidArgument("address \"{}\": wanted host:port", address);
  std::string bound = address;
  if (address.substr(colon + 1) == "0") {
    bound = fmt::format("{}:{}", address.substr(0, colon), next_port_++);
  }
  const bool added = listeners_.emplace(bound, Listener{&node, &events}).second;
  if (!added) return Unavailable("cannot listen at {}: address in use", bound);
  return bound;
}

ConnectionId FlowNetwork::Connect(NodeTransport& node, const std::string& address, TransportEvents& events) {
  const auto index = static_cast<EndIndex>(connections_.size() * 2);
  Connection& connection = connections_.Add();
  connection.address = address;
  connection.ends[1].state = State::kClosed;
  GiveTo(node, events, index);
  queue_.After(options_.latency, [this, index] { Knock(index); });
  return IdOf(index);
}

void FlowNetwork::GiveTo(NodeTransport& node, TransportEvents& events, EndIndex index) {
  End& end = at(index);
  end.host = node.host;
  end.node = &node;
  end.events = &events;
  LW_CHECK(node.ends.size() < kConnectionSlots, "{} connections of one node", node.ends.size());
  end.slot = static_cast<std::uint32_t>(node.ends.size());
  node.ends.push_back(index);
}

void FlowNetwork::Knock(EndIndex index) {
  if (at(index).state == State::kClosed) return;
  const auto found = listeners_.find(connections_[index / 2].address);
  const bool accepted = found != listeners_.end();
  if (accepted) {
    GiveTo(*found->second.node, *found->second.events, index ^ 1U);
    peer(index).state = State::kOpen;
    peer(index).last_arrival = queue_.now() + options_.latency;
  }
  queue_.After(options_.latency, [this, index] { Answer(index); });
  if (!accepted) return;
  const std::string from = fmt::format("host-{}:{}", at(index).host.value(), 40'000 + index / 2);
  found->second.events->OnAccepted(IdOf(index ^ 1U), from);
}

void FlowNetwork::Answer(EndIndex index) {
  End& end = at(index);
  if (end.state != State::kConnecting) return;
  if (peer(index).node == nullptr) {  // nobody listens there
    return Fail(index,
                Unavailable("cannot connect to {}: connection refused", connections_[index / 2].address));
  }
  end.state = State::kOpen;
  if (end.events != nullptr) end.events->OnConnected(IdOf(index));
  StartNext(index);
}

void FlowNetwork::Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
                       std::span<const Pinned> payload) {
  if (!Knows(id)) return;
  const EndIndex index = IndexOf(id);
  End& end = at(index);
  if (end.state == State::kClosed || end.drains) return;
  const MessageId number = messages_.New();
  Message& message = messages_[number];
  message.kind = kind;
  message.body.Assign(body);
  message.payload.Assign(payload);
  message.payload_bytes = 0;
  for (const Pinned& part : payload) message.payload_bytes += part.bytes.size();
  const double bytes = static_cast<double>(message.payload_bytes * options_.payload_grain);
  message.wire_bytes = static_cast<double>(wire::kHeaderBytes + body.size()) + bytes;
  message.sent = message.ready = queue_.now();
  const NodeCost& cost = cards_[end.host.index()]->model.cost;
  end.queued_bytes += wire::kHeaderBytes + body.size() + message.payload_bytes;
  messages_.Append(end.out, number);
  if (bytes > 0 && cost.per_byte_ns > 0) {
    message.ready = Duration::max();
    Work(*end.node, Nanoseconds(bytes * cost.per_byte_ns), [this, index, number] {
      if (at(index).state == State::kClosed) return;  // and the message is gone
      messages_[number].ready = queue_.now();
      if (at(index).state == State::kOpen) StartNext(index);
    });
    return;
  }
  if (end.state == State::kOpen) StartNext(index);
}

void FlowNetwork::Work(NodeTransport& node, Duration takes, std::function<void()> done) {
  if (SharedCores* const cores = cards_[node.host.index()]->model.cores; cores != nullptr) {
    if (node.line == nullptr) node.line = std::make_unique<WorkLine>(*cores);
    return node.line->Add(takes, std::move(done));
  }
  node.busy_until = std::max(node.busy_until, queue_.now()) + takes;
  queue_.At(node.busy_until, std::move(done));
}

void FlowNetwork::StartNext(EndIndex index) {
  End& end = at(index);
  while (!end.busy && !end.out.empty()) {
    const Message& message = messages_[end.out.first];
    if (message.ready > queue_.now()) return;  // its node comes back when it is
    Card& from = *cards_[end.host.index()];
    Card& to = *cards_[peer(index).host.index()];
    const bool within = &from == &to;
    if (within || message.wire_bytes <= static_cast<double>(options_.small_bytes)) {
      const double rate = std::min(from.model.bytes_per_second, to.model.bytes_per_second);
      const double takes = within ? 0.0 : message.wire_bytes * 1e9 / rate;
      end.queued_bytes -= wire::kHeaderBytes + message.body.size() + message.payload_bytes;
      Fly(index, messages_.TakeFirst(end.out), Nanoseconds(takes));
      continue;
    }
    end.busy = true;
    end.links_left = 2;
    from.out.link.Begin(index, message.wire_bytes, queue_.now());
    to.in.link.Begin(index, message.wire_bytes, queue_.now());
    Watch(from.out);
    Watch(to.in);
  }
  if (end.drains && !end.busy) Shut(index);
}

void FlowNetwork::Watch(Direction& direction) {
  const std::optional<Duration> next = direction.link.NextEnd();
  // A look that comes too early costs an event; one look for every flow that begins would cost more.
  if (!next || *next >= direction.looked_at) return;
  direction.looked_at = *next;
  queue_.At(*next, [this, at = &direction] { LookAt(*at); });
}

void FlowNetwork::LookAt(Direction& direction) {
  if (queue_.now() >= direction.looked_at) direction.looked_at = Duration::max();
  while (const std::optional<std::uint32_t> index = direction.link.TakeEnded(queue_.now())) {
    if (--at(*index).links_left == 0) Through(*index);
  }
  Watch(direction);
}

void FlowNetwork::Through(EndIndex index) {
  End& end = at(index);
  end.busy = false;
  if (end.out.empty()) return;  // it has closed meanwhile
  const MessageId id = messages_.TakeFirst(end.out);
  const Message& message = messages_[id];
  end.queued_bytes -= wire::kHeaderBytes + message.body.size() + message.payload_bytes;
  Fly(index, id, Duration::zero());
  StartNext(index);
}

void FlowNetwork::Fly(EndIndex from, MessageId id, Duration takes) {
  End& end = at(from);
  const Message& message = messages_[id];
  Duration arrives = queue_.now() + takes + options_.latency;
  if (options_.extra_delay && !message.is_end) {
    arrives += options_.extra_delay(end.host, peer(from).host, message.kind);
  }
  end.last_arrival = std::max(end.last_arrival, arrives);
  queue_.At(end.last_arrival, [this, from, id] { Arrive(from, id); });
}

void FlowNetwork::Arrive(EndIndex from, MessageId id) {
  const End& to = peer(from);
  if (to.state != State::kOpen) return messages_.Free(id);
  const NodeCost& cost = cards_[to.host.index()]->model.cost;
  if (cost.none()) return Hand(from, id);
  const Message& message = messages_[id];
  Duration takes{0};
  if (!message.is_end) {
    const double bytes = static_cast<double>(message.payload_bytes * options_.payload_grain);
    takes = cost.per_message + Nanoseconds(bytes * cost.per_byte_ns);
  }
  Work(*to.node, takes, [this, from, id] { Hand(from, id); });
}

void FlowNetwork::Hand(EndIndex from, MessageId id) {
  const EndIndex index = from ^ 1U;
  if (at(index).state == State::kOpen) {
    const Message& message = messages_[id];
    if (message.is_end) {
      Fail(index, Unavailable("the peer closed the connection"));
    } else {
      ++counters_.messages;
      counters_.bytes += message.wire_bytes;
      at(index).last_received = queue_.now();
      if (options_.delivered) options_.delivered(at(from).host, message.kind, queue_.now() - message.sent);
      const Status handed = at(index).drains ? Status::Ok() : HandFrame(index, message);
      if (!handed.ok() && at(index).state == State::kOpen) Fail(index, handed);
    }
  }
  messages_.Free(id);
}

Status FlowNetwork::HandFrame(EndIndex to, const Message& message) {
  const auto is_open = [&] { return at(to).state == State::kOpen && at(to).events != nullptr; };
  const FrameHead sent{.kind = message.kind,
                       .body_bytes = static_cast<std::uint32_t>(message.body.size()),
                       .payload_bytes = message.payload_bytes};
  LW_ASSIGN_OR_RETURN(FrameHead head, wire::DecodeHeader(wire::EncodeHeader(sent), limits_[at(to).limits]));
  Landing landing;
  if (head.payload_bytes > 0) {
    views_.clear();
    for (const Pinned& part : message.payload.all()) views_.push_back(part.bytes);
    head.readable = std::ranges::all_of(views_, IsReadable);
    LW_ASSIGN_OR_RETURN(landing, at(to).events->OnFrameStart(IdOf(to), head, message.body.all()));
    if (!is_open()) return Status::Ok();
    if (landing.in_place && head.readable) {
      landing.views = views_;
    } else {
      std::uint64_t bytes = 0;
      for (const std::span<std::byte> place : landing.places) bytes += place.size();
      if (bytes != head.payload_bytes) {
        return Internal("{} frame: got a landing of {} bytes in {} places, wanted {} bytes",
                        wire::KindName(wire::Kind{head.kind}), bytes, landing.places.size(),
                        head.payload_bytes);
      }
      CopyInto(landing.places, views_);
    }
  }
  at(to).events->OnFrame(IdOf(to), head, message.body.all(), std::move(landing));
  return Status::Ok();
}

void FlowNetwork::SetLimits(ConnectionId id, const FrameLimits& limits) {
  if (!Knows(id)) return;
  auto known = std::ranges::find_if(limits_, [&](const FrameLimits& each) {
    return each.body_bytes_max == limits.body_bytes_max &&
           each.payload_bytes_max == limits.payload_bytes_max && each.carriers == limits.carriers;
  });
  if (known == limits_.end()) known = limits_.insert(limits_.end(), limits);
  at(IndexOf(id)).limits = static_cast<std::uint32_t>(known - limits_.begin());
}

void FlowNetwork::Close(ConnectionId id) {
  if (!Knows(id)) return;
  const EndIndex index = IndexOf(id);
  if (at(index).state == State::kClosed || at(index).drains) return;
  Shut(index);
}

void FlowNetwork::CloseAfterSend(ConnectionId id) {
  if (!Knows(id)) return;
  const EndIndex index = IndexOf(id);
  End& end = at(index);
  if (end.state == State::kClosed || end.drains) return;
  end.drains = true;
  end.events = nullptr;
  if (end.state == State::kOpen) StartNext(index);
}

void FlowNetwork::Shut(EndIndex index) {
  End& end = at(index);
  if (end.state == State::kClosed) return;
  end.state = State::kClosed;
  end.events = nullptr;
  end.queued_bytes = 0;
  MessageList dropped = std::exchange(end.out, {});
  // An end that is still connecting hears of it after the answer to its connect.
  if (peer(index).state != State::kClosed) {
    const MessageId last = messages_.New();
    messages_[last].is_end = true;
    Fly(index, last, Duration::zero());
  }
  while (!dropped.empty()) messages_.Free(messages_.TakeFirst(dropped));
}

void FlowNetwork::Fail(EndIndex index, const Status& why) {
  TransportEvents* const events = at(index).events;
  Shut(index);
  if (events != nullptr) events->OnClosed(IdOf(index), why);
}

void FlowNetwork::Forget(NodeTransport& node) {
  std::erase_if(listeners_, [&](const auto& entry) { return entry.second.node == &node; });
  for (const EndIndex index : node.ends) Shut(index);
}

}  // namespace leeway::sim
