// SimNetwork: the network of one simulated world: listeners, connections, links, and their faults.
//
// Connections carry the encoded bytes of frames in chunks of random size, in order, through the real frame
// decoder. The fault plan calls the faults (Cut, Block, Slow, Refuse); the SimTransports of the nodes call
// everything else. Only the event queue calls into nodes, never a call of a node.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leeway/status.h"
#include "leeway/transport.h"
#include "sim/connection.h"
#include "sim/event_queue.h"
#include "sim/link_model.h"
#include "sim/network.h"
#include "sim/seeded_random.h"
#include "sim/trace.h"

namespace leeway::sim {

struct NetworkOptions {
  NicOptions nic;
  std::size_t chunk_bytes_max = 16 * 1024;  // the most that leaves at once
  std::uint64_t window_bytes = 64 * 1024;   // in flight per direction; the rest stays queued and pinned
  Duration drain_limit = std::chrono::seconds(1);  // CloseAfterSend gives up after this long
};

using FaultId = StrongInt<struct FaultTag, std::uint64_t>;  // names one fault of the plan; 0: no fault

struct NetworkCounters {
  std::uint64_t connects = 0;
  std::uint64_t cuts = 0;               // connections torn by a fault
  std::uint64_t cuts_inside_frame = 0;  // ... where an end was left with a part of a frame
  std::uint64_t verdicts_lost = 0;      // connections lost while a verdict was on its way
  std::uint64_t bytes = 0;
};

// Hears of the events that the fault plan waits for, during an event; it may call the faults.
class NetworkWatcher {
 public:
  virtual ~NetworkWatcher() = default;
  // A block, slowness or refusal met its first traffic.
  virtual void OnFaultMet(FaultId fault) = 0;
  // Bytes have left on a connection that is up both ways; `verdict`: a frame with verdicts is under way
  // there.
  virtual void OnLeft(std::uint64_t connection, bool verdict) = 0;
};

class SimNetwork final : public Network {
 public:
  // Borrows `queue` and `trace`.
  SimNetwork(EventQueue& queue, const NetworkOptions& options, std::uint64_t seed, TraceHash& trace);
  ~SimNetwork() override;

  [[nodiscard]] HostId AddHost() override;
  [[nodiscard]] std::unique_ptr<Transport> MakeTransport(HostId host, const Clock& clock) override;
  [[nodiscard]] std::uint32_t hosts() const { return hosts_; }
  void Watch(NetworkWatcher* watcher) { watcher_ = watcher; }

  // As in Transport, for the node on `host` that `owner` identifies.
  Result<std::string> Listen(HostId host, const void* owner, const std::string& address,
                             TransportEvents& events);
  ConnectionId Connect(HostId host, const void* owner, const std::string& address, TransportEvents& events);
  void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
            std::span<const Pinned> payload);
  // Sends bytes that need not be a frame: for tests of bad peers.
  void SendRaw(ConnectionId id, std::span<const std::byte> bytes);
  void SetLimits(ConnectionId id, const FrameLimits& limits);
  void Close(ConnectionId id);
  void CloseAfterSend(ConnectionId id);
  [[nodiscard]] std::uint64_t QueuedBytes(ConnectionId id) const;
  // The time since bytes last arrived; nullopt before the first.
  [[nodiscard]] std::optional<Duration> SilentFor(ConnectionId id) const;
  // The node is gone: its listeners and connections end, and its events are not called again.
  void Forget(const void* owner);

  // Faults. Connections are named by number.
  // Tears the connection: each direction loses a random suffix of its bytes in flight. Each end learns of it
  // by itself.
  void Cut(std::uint64_t connection);
  // Bytes and connects from `from` to `to` stall until `until`.
  void Block(HostId from, HostId to, Duration until, FaultId fault);
  // Bytes that leave before `until` take `extra` longer.
  void Slow(HostId from, HostId to, Duration extra, Duration until, FaultId fault);
  // Connects to `host` are refused until `until`.
  void Refuse(HostId host, Duration until, FaultId fault);

  struct LiveConnection {
    std::uint64_t number;
    HostId hosts[2];
  };
  // The connections that are up at both ends, in the order of their numbers.
  [[nodiscard]] std::vector<LiveConnection> Live() const;
  [[nodiscard]] const NetworkCounters& counters() const { return counters_; }

 private:
  struct Listener {
    HostId host;
    const void* owner;
    TransportEvents* events;
  };
  struct Impairment {
    Duration until{};
    Duration extra{};
    FaultId fault;
    bool met = false;
  };
  using Path = std::pair<HostId, HostId>;

  [[nodiscard]] ConnectionRef Find(ConnectionId id) const;
  [[nodiscard]] static int SideOf(ConnectionId id) { return static_cast<int>((id.value() - 1) % 2); }
  [[nodiscard]] static ConnectionId IdOf(std::uint64_t number, int side) {
    return ConnectionId(number * 2 + static_cast<std::uint64_t>(side) + 1);
  }

  void Knock(const ConnectionRef& connection);  // a connect reaches the other host
  void ScheduleLeave(const ConnectionRef& connection, int side, Duration when);
  void Leave(const ConnectionRef& connection, int side);
  void ScheduleLanding(const ConnectionRef& connection, int side, Duration when);
  void Land(const ConnectionRef& connection, int side);
  void Deliver(const ConnectionRef& connection, int to, Chunk chunk);
  void Signal(const ConnectionRef& connection, int side, Chunk::Kind kind, Duration delay);
  // Ends this end for its own node, and tells the node if it still listens.
  void End(const ConnectionRef& connection, int side, const Status& why);
  // Closes this end: nothing queued leaves, and the other end will hear of it.
  void Shut(const ConnectionRef& connection, int side);
  void EraseIfOver(const ConnectionRef& connection);
  [[nodiscard]] std::size_t ChunkBytes(std::uint64_t queued);
  [[nodiscard]] Duration OneWay();
  // Returns until when the path is blocked, if it is, and marks the fault as met.
  [[nodiscard]] Duration BlockedUntil(HostId from, HostId to);
  [[nodiscard]] Duration ExtraDelay(HostId from, HostId to);
  void Meet(Impairment& impairment);

  EventQueue& queue_;
  const NetworkOptions options_;
  SeededRandom random_;
  std::unique_ptr<LinkModel> links_;
  TraceHash& trace_;
  NetworkWatcher* watcher_ = nullptr;
  std::uint32_t hosts_ = 0;
  std::uint32_t next_port_ = 10'000;
  std::uint64_t next_connection_ = 0;
  std::map<std::string, Listener> listeners_;
  std::map<std::uint64_t, ConnectionRef> connections_;
  std::map<Path, Impairment> blocks_;
  std::map<Path, Impairment> slow_;
  std::map<HostId, Impairment> refusals_;
  NetworkCounters counters_;
};

}  // namespace leeway::sim
