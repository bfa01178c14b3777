// FlowNetwork: a network that models time. It carries whole messages, as flows through the cards of the
// hosts.
//
// Hosts have a card each, or share the card of one machine. Each direction of a card is a SharedLink. The
// card of the sender and the card of the receiver serve a message at the same time. The message arrives when
// the later of the two is done and the latency has passed. So the rate of one sender, or of one receiver,
// bounds it, and nothing stores it on the way. Messages of one connection follow each other. A node that is
// not infinitely fast (NodeCost) takes one message after the other. Nothing is encoded: a receiver reads
// payloads in place, so pins last until then. Only a message with an extra delay is copied when it leaves,
// because its sender may wait for the pins to drop.
//
// Rates and costs may change at any time. A card may be cut off for a while: its messages wait, and nobody
// hears of it. The connections of a node that is destroyed close. SimNetwork has finer faults.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leeway/status.h"
#include "leeway/transport.h"
#include "sim/event_queue.h"
#include "sim/flow/host_load.h"
#include "sim/flow/message_orders.h"
#include "sim/flow/message_store.h"
#include "sim/flow/shared_cores.h"
#include "sim/flow/shared_link.h"
#include "sim/flow/stable_list.h"
#include "sim/network.h"

namespace leeway::sim {

// The cost of each message that a node gets or sends.
struct NodeCost {
  Duration per_message{0};  // of a message that it gets
  double per_byte_ns = 0;   // of payloads that it gets or sends
  [[nodiscard]] bool none() const { return per_message == Duration::zero() && per_byte_ns == 0; }
};

struct HostModel {
  double bytes_per_second = 125e6;  // of each direction of its card
  std::optional<HostId> card_of;    // it shares the card of this earlier host, with that one's rate
  NodeCost cost;                    // of each node on it
  SharedCores* cores = nullptr;     // that its nodes work on with others; null: each has one of its own
};

struct FlowOptions {
  Duration latency{50'000};          // of every path, one way
  std::uint64_t small_bytes = 1500;  // messages up to this size pass between the packets of others
  std::uint64_t payload_grain = 1;   // bytes that one byte of a payload stands for
  // The model of each host, by its number; empty: the default of HostModel.
  std::function<HostModel(HostId)> host_model;
  // The extra delay of a message beyond the links; empty: no extra delay.
  std::function<Duration(HostId from, HostId to, std::uint8_t kind)> extra_delay;
  // Called for every delivered message, with the time since it was sent; may be empty.
  std::function<void(HostId from, HostId to, std::uint8_t kind, Duration took)> delivered;
};

struct FlowCounters {
  std::uint64_t messages = 0;  // that have been delivered
  double bytes = 0;            // of those, with the grain
};

class FlowNetwork final : public Network {
 public:
  // Borrows `queue`.
  FlowNetwork(EventQueue& queue, const FlowOptions& options);
  ~FlowNetwork() override;

  [[nodiscard]] HostId AddHost() override;
  [[nodiscard]] std::unique_ptr<Transport> MakeTransport(HostId host, const Clock& clock) override;
  [[nodiscard]] const FlowCounters& counters() const { return counters_; }
  // Returns whether a message is on some card.
  [[nodiscard]] bool IsCarrying() const;
  // The load of a host since the last CountLoadAnew.
  [[nodiscard]] HostLoad LoadOf(HostId host) const;
  void CountLoadAnew();

  // From now on each direction of this host's card has its rate divided by `times`, also for the messages
  // under way.
  void SlowLink(HostId host, double times);
  // Messages that arrive or are sent from now on cost the nodes of this host so many times as much.
  void SlowNode(HostId host, double times);
  // Stops all that passes this host's card, until Mend was called as often. Messages under way keep their
  // progress; messages that have passed the links arrive. Messages within a machine pass no card.
  void Cut(HostId host);
  void Mend(HostId host);

 private:
  class NodeTransport;
  enum class State : std::uint8_t { kConnecting, kOpen, kClosed };
  // A cache line each: every message of a job reads both ends of another connection.
  struct alignas(64) End {
    NodeTransport* node = nullptr;  // of an end that is not closed
    TransportEvents* events = nullptr;
    HostId host;
    std::uint32_t slot = 0;    // among those of its node
    std::uint32_t limits = 0;  // index into limits_, for frames that this end gets
    State state = State::kConnecting;
    bool drains = false;          // its node closes it once the queue has left
    std::uint8_t links_left = 0;  // of the message under way: cards that are not through with it
    bool busy = false;            // the first message of `out` is under way
    MessageList out;              // not yet through the links, the one under way in front
    std::uint64_t queued_bytes = 0;
    Duration last_arrival{0};  // of the messages that this end has sent
    Duration last_received{-1};
  };
  struct Connection {
    End ends[2];  // [0] connected, [1] accepted
    std::string address;
  };
  struct Direction {
    explicit Direction(double bytes_per_second) : link(bytes_per_second) {}
    SharedLink link;
    Duration looked_at = Duration::max();  // next
  };
  struct Card {
    explicit Card(double its_rate) : usual_rate(its_rate), rate(its_rate), out(its_rate), in(its_rate) {}
    const double usual_rate;  // bytes per second
    double rate;              // now
    Direction out, in;
    std::uint32_t cuts = 0;                      // not yet mended
    std::vector<std::function<void()>> waiting;  // for the end of the cut
  };
  struct Host {
    Card* card;
    NodeCost usual_cost;
    NodeCost cost;  // now
    SharedCores* cores;
    // But for `busy`, which the card knows. Its `worked` also has the work that nodes have not done yet.
    HostLoad load = {};
    std::vector<const NodeTransport*> nodes = {};
  };
  // The two cards that the messages of one end pass.
  struct Path {
    Card& from;
    Card& to;
    [[nodiscard]] bool is_within() const { return &from == &to; }
    // The card that stops messages; null if none does.
    [[nodiscard]] Card* CutCard() const {
      if (is_within()) return nullptr;
      return from.cuts > 0 ? &from : to.cuts > 0 ? &to : nullptr;
    }
  };
  // The bytes that a message under way still had to pass when its path was cut; nullopt: it had passed.
  struct Stalled {
    std::optional<double> out, in;
  };
  struct Listener {
    NodeTransport* node;  // null: nobody listens there any more
    TransportEvents* events;
    HostId host;
  };
  using EndIndex = std::uint32_t;  // connection * 2 + side

  [[nodiscard]] static EndIndex IndexOf(ConnectionId id) { return static_cast<EndIndex>(UseOf(id) - 1); }
  [[nodiscard]] ConnectionId IdOf(EndIndex index) const {
    return MakeConnectionId(std::uint64_t{index} + 1, at(index).slot);
  }
  [[nodiscard]] bool Knows(ConnectionId id) const {
    return UseOf(id) > 0 && UseOf(id) <= connections_.size() * 2;
  }
  [[nodiscard]] End& at(EndIndex index) { return connections_[index / 2].ends[index % 2]; }
  [[nodiscard]] const End& at(EndIndex index) const { return connections_[index / 2].ends[index % 2]; }
  [[nodiscard]] End& peer(EndIndex index) { return at(index ^ 1U); }
  [[nodiscard]] Path PathBetween(HostId from, HostId to) {
    return {*hosts_[from.index()].card, *hosts_[to.index()].card};
  }
  [[nodiscard]] Path PathOf(EndIndex from) { return PathBetween(at(from).host, peer(from).host); }

  Result<std::string> Listen(NodeTransport& node, const std::string& address, TransportEvents& events);
  ConnectionId Connect(NodeTransport& node, const std::string& address, TransportEvents& events);
  void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
            std::span<const Pinned> payload, const FrameOrder& order);
  void SetLimits(ConnectionId id, const FrameLimits& limits);
  void Close(ConnectionId id);
  void CloseAfterSend(ConnectionId id);
  void Forget(NodeTransport& node);

  void GiveTo(NodeTransport& node, TransportEvents& events, EndIndex index);
  void Knock(EndIndex index);   // a connect reaches the other host
  void Answer(EndIndex index);  // ... and its answer the one that asked
  // Starts the first queued message, if no message is under way.
  void StartNext(EndIndex index);
  // Returns whether a message is on its way to this end.
  [[nodiscard]] bool IsReceiving(EndIndex index) const;
  // Takes the message under way out of the links.
  Stalled TakeOff(EndIndex index);
  // Puts a stalled message back, if its path is whole.
  void Resume(EndIndex index);
  // Schedules a look at the link for the end of its next flow; LookAt takes out all ended flows.
  void Watch(Direction& direction);
  void LookAt(Direction& direction);
  // The message in front has passed both cards.
  void Through(EndIndex index);
  // Counts a message that the cards are through with, or that passes between the packets of others.
  void CountTraffic(EndIndex from, const Message& message, Duration waited);
  // The work that the nodes of a host have not done yet.
  [[nodiscard]] Duration UndoneOf(const Host& host) const;
  // Calls `done` when the node has done this work, after its earlier work.
  void Work(NodeTransport& node, Duration takes, std::function<void()> done);
  // Sends a message on its way; it arrives after all earlier ones.
  void Fly(EndIndex from, MessageId id, Duration takes);
  void Arrive(EndIndex from, MessageId id);
  void Hand(EndIndex from, MessageId id);
  [[nodiscard]] Status HandFrame(EndIndex to, const Message& message);
  // Closes the end for its node; its peer will hear of it.
  void Shut(EndIndex index);
  // Closes the end and tells its node.
  void Fail(EndIndex index, const Status& why);

  EventQueue& queue_;
  const FlowOptions options_;
  std::vector<std::unique_ptr<Card>> cards_;
  std::vector<Host> hosts_;             // by HostId
  StableList<Connection> connections_;  // callbacks may add some
  std::map<EndIndex, Stalled> stalled_;
  std::vector<FrameLimits> limits_{1};  // the defaults, and all others that some end ever got: few
  std::map<std::string, Listener> listeners_;
  MessageStore messages_;
  MessageOrders orders_{messages_};
  std::uint32_t next_port_ = 10'000;
  FlowCounters counters_;
  std::vector<std::span<const std::byte>> views_;  // of the message that is handed over
};

}  // namespace leeway::sim
