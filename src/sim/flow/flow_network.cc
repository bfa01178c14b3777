#include "sim/flow/flow_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "sim/flow/payload_views.h"
#include "sim/nanoseconds.h"
#include "wire/frame.h"
#include "wire/kind.h"

namespace leeway::sim {

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
            std::span<const Pinned> payload, const FrameOrder& order) override {
    network_.Send(id, kind, body, payload, order);
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
    if (end.state == State::kClosed) return TimePoint::min();
    // The bytes of a long message arrive one after the other.
    if (network_.IsReceiving(IndexOf(id))) return clock_.Now();
    if (end.last_received < Duration::zero()) return TimePoint::min();
    return clock_.Now() - (network_.queue_.now() - end.last_received);
  }
  [[nodiscard]] std::string_view Carrier(ConnectionId id) const override {
    return network_.Knows(id) && network_.at(IndexOf(id)).state == State::kOpen ? "sim" : "";
  }
  [[nodiscard]] std::string_view Host() const override { return ""; }
  [[nodiscard]] Duration Undone(Duration now) const {
    return line != nullptr ? line->undone() : std::max(Duration::zero(), busy_until - now);
  }

  const HostId host;
  std::vector<EndIndex> ends;      // ever opened
  Duration busy_until{0};          // without shared cores
  std::unique_ptr<WorkLine> line;  // on shared cores; made by the first work

 private:
  FlowNetwork& network_;
  const Clock& clock_;
};

FlowNetwork::FlowNetwork(EventQueue& queue, const FlowOptions& options) : queue_(queue), options_(options) {
  static_assert(sizeof(End) == 64);
}
FlowNetwork::~FlowNetwork() = default;

HostId FlowNetwork::AddHost() {
  const HostId host(static_cast<std::uint32_t>(hosts_.size()));
  const HostModel model = options_.host_model ? options_.host_model(host) : HostModel{};
  if (!model.card_of) cards_.push_back(std::make_unique<Card>(model.bytes_per_second));
  Card* const card = model.card_of ? hosts_[model.card_of->index()].card : cards_.back().get();
  hosts_.push_back({.card = card, .usual_cost = model.cost, .cost = model.cost, .cores = model.cores});
  return host;
}

void FlowNetwork::SlowLink(HostId host, double times) {
  Card& card = *hosts_[host.index()].card;
  card.rate = card.usual_rate / times;
  for (Direction* direction : {&card.out, &card.in}) {
    direction->link.SetRate(card.rate, queue_.now());
    Watch(*direction);
  }
}

void FlowNetwork::SlowNode(HostId host, double times) {
  Host& slow = hosts_[host.index()];
  slow.cost.per_message = Nanoseconds(static_cast<double>(slow.usual_cost.per_message.count()) * times);
  slow.cost.per_byte_ns = slow.usual_cost.per_byte_ns * times;
}

void FlowNetwork::Cut(HostId host) {
  Card& card = *hosts_[host.index()].card;
  if (++card.cuts > 1) return;
  for (EndIndex index = 0; index < connections_.size() * 2; ++index) {
    if (!at(index).busy || stalled_.contains(index)) continue;
    const Path path = PathOf(index);
    if (&path.from == &card || &path.to == &card) stalled_.emplace(index, TakeOff(index));
  }
}

void FlowNetwork::Mend(HostId host) {
  Card& card = *hosts_[host.index()].card;
  if (--card.cuts > 0) return;
  for (const std::function<void()>& go_on : std::exchange(card.waiting, {})) go_on();
  for (EndIndex index = 0; index < connections_.size() * 2; ++index) {
    if (at(index).state == State::kClosed || at(index).node == nullptr) continue;
    Resume(index);
    if (at(index).state == State::kOpen) StartNext(index);
  }
}

FlowNetwork::Stalled FlowNetwork::TakeOff(EndIndex index) {
  const Path path = PathOf(index);
  const Stalled left{path.from.out.link.Remove(index, queue_.now()),
                     path.to.in.link.Remove(index, queue_.now())};
  Watch(path.from.out);
  Watch(path.to.in);
  return left;
}

void FlowNetwork::Resume(EndIndex index) {
  const auto found = stalled_.find(index);
  if (found == stalled_.end()) return;
  const Path path = PathOf(index);
  if (path.CutCard() != nullptr) return;
  const Stalled left = found->second;
  stalled_.erase(found);
  if (left.out) path.from.out.link.Begin(index, *left.out, queue_.now());
  if (left.in) path.to.in.link.Begin(index, *left.in, queue_.now());
  Watch(path.from.out);
  Watch(path.to.in);
}

bool FlowNetwork::IsReceiving(EndIndex index) const {
  const EndIndex from = index ^ 1U;
  return at(from).busy && !stalled_.contains(from);
}

bool FlowNetwork::IsCarrying() const {
  return std::ranges::any_of(cards_, [](const std::unique_ptr<Card>& card) {
    return card->out.link.NextEnd().has_value() || card->in.link.NextEnd().has_value();
  });
}

HostLoad FlowNetwork::LoadOf(HostId id) const {
  const Host& host = hosts_[id.index()];
  HostLoad load = host.load;
  load.worked -= UndoneOf(host);
  load.in.busy = host.card->in.link.BusyBy(queue_.now());
  load.out.busy = host.card->out.link.BusyBy(queue_.now());
  return load;
}

void FlowNetwork::CountLoadAnew() {
  for (Host& host : hosts_) {
    host.load = {};
    host.load.worked = UndoneOf(host);
    for (Direction* direction : {&host.card->in, &host.card->out})
      direction->link.CountBusyAnew(queue_.now());
  }
}

std::unique_ptr<Transport> FlowNetwork::MakeTransport(HostId host, const Clock& clock) {
  auto node = std::make_unique<NodeTransport>(*this, host, clock);
  hosts_[host.index()].nodes.push_back(node.get());
  return node;
}

Duration FlowNetwork::UndoneOf(const Host& host) const {
  Duration undone{0};
  for (const NodeTransport* node : host.nodes) undone += node->Undone(queue_.now());
  return undone;
}

Result<std::string> FlowNetwork::Listen(NodeTransport& node, const std::string& address,
                                        TransportEvents& events) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return InvalidArgument("address \"{}\": wanted host:port", address);
  std::string bound = address;
  if (address.substr(colon + 1) == "0") {
    bound = fmt::format("{}:{}", address.substr(0, colon), next_port_++);
  }
  Listener& listener = listeners_[bound];
  if (listener.node != nullptr) return Unavailable("cannot listen at {}: address in use", bound);
  listener = {&node, &events, node.host};
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
  const bool is_known = found != listeners_.end();
  if (is_known) {
    const Path path = PathBetween(at(index).host, found->second.host);
    if (Card* const cut = path.CutCard()) return cut->waiting.push_back([this, index] { Knock(index); });
  }
  const bool accepted = is_known && found->second.node != nullptr;
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
  if (Card* const cut = PathOf(index).CutCard()) {
    return cut->waiting.push_back([this, index] { Answer(index); });
  }
  end.state = State::kOpen;
  if (end.events != nullptr) end.events->OnConnected(IdOf(index));
  StartNext(index);
}

void FlowNetwork::Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
                       std::span<const Pinned> payload, const FrameOrder& order) {
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
  const NodeCost& cost = hosts_[end.host.index()].cost;
  end.queued_bytes += wire::kHeaderBytes + body.size() + message.payload_bytes;
  orders_.Queue(index, end.out, number, order);
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
  Host& host = hosts_[node.host.index()];
  host.load.worked += takes;
  if (SharedCores* const cores = host.cores; cores != nullptr) {
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
    const Path path = PathOf(index);
    if (path.CutCard() != nullptr) return;  // Mend comes back
    if (path.is_within() || message.wire_bytes <= static_cast<double>(options_.small_bytes)) {
      const double rate = std::min(path.from.rate, path.to.rate);
      const double takes = path.is_within() ? 0.0 : message.wire_bytes * 1e9 / rate;
      if (!path.is_within()) CountTraffic(index, message, queue_.now() - message.ready);
      end.queued_bytes -= wire::kHeaderBytes + message.body.size() + message.payload_bytes;
      Fly(index, orders_.TakeFirst(index, end.out), Nanoseconds(takes));
      continue;
    }
    end.busy = true;
    end.links_left = 2;
    path.from.out.link.Begin(index, message.wire_bytes, queue_.now());
    path.to.in.link.Begin(index, message.wire_bytes, queue_.now());
    Watch(path.from.out);
    Watch(path.to.in);
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

void FlowNetwork::CountTraffic(EndIndex from, const Message& message, Duration waited) {
  hosts_[at(from).host.index()].load.out.Add(message.wire_bytes, waited);
  hosts_[peer(from).host.index()].load.in.Add(message.wire_bytes, waited);
}

void FlowNetwork::Through(EndIndex index) {
  End& end = at(index);
  end.busy = false;
  const MessageId id = orders_.TakeFirst(index, end.out);
  const Message& message = messages_[id];
  const Path path = PathOf(index);
  const Duration alone = Nanoseconds(message.wire_bytes * 1e9 / std::min(path.from.rate, path.to.rate));
  CountTraffic(index, message, std::max(Duration::zero(), queue_.now() - message.ready - alone));
  end.queued_bytes -= wire::kHeaderBytes + message.body.size() + message.payload_bytes;
  Fly(index, id, Duration::zero());
  StartNext(index);
}

void FlowNetwork::Fly(EndIndex from, MessageId id, Duration takes) {
  if (Card* const cut = PathOf(from).CutCard()) {
    return cut->waiting.push_back([this, from, id, takes] { Fly(from, id, takes); });
  }
  End& end = at(from);
  const Message& message = messages_[id];
  Duration arrives = queue_.now() + takes + options_.latency;
  if (options_.extra_delay && !message.is_end) {
    const Duration extra = options_.extra_delay(end.host, peer(from).host, message.kind);
    arrives += extra;
    if (extra > Duration::zero()) messages_.CopyPayload(id);
  }
  end.last_arrival = std::max(end.last_arrival, arrives);
  queue_.At(end.last_arrival, [this, from, id] { Arrive(from, id); });
}

void FlowNetwork::Arrive(EndIndex from, MessageId id) {
  const End& to = peer(from);
  if (to.state != State::kOpen) return messages_.Free(id);
  const NodeCost& cost = hosts_[to.host.index()].cost;
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
      if (options_.delivered)
        options_.delivered(at(from).host, at(index).host, message.kind, queue_.now() - message.sent);
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
  // The rest of the message under way is not sent.
  if (std::exchange(end.busy, false) && stalled_.erase(index) == 0) (void)TakeOff(index);
  MessageList dropped = std::exchange(end.out, {});
  orders_.Forget(index);
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
  Host& host = hosts_[node.host.index()];
  host.load.worked -= node.Undone(queue_.now());  // nobody does it any more
  std::erase(host.nodes, &node);
  for (auto& [address, listener] : listeners_) {
    if (listener.node == &node) listener.node = nullptr;
  }
  for (const EndIndex index : node.ends) Shut(index);
}

}  // namespace leeway::sim
