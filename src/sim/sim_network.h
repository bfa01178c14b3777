// SimNetwork: the network of one simulated world. Listeners, connections, links, and the ways in which they
// fail.
//
// Connections carry the encoded bytes of frames in chunks of random size, in order, through the real frame
// decoder. The fault plan calls Cut and impairments(); the SimTransports of the nodes call the rest.
// Callbacks into nodes are made from the event queue alone, never from inside a call.
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
#include "sim/impairments.h"
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

struct NetworkCounters {
  std::uint64_t connects = 0;
  std::uint64_t cuts = 0;               // connections torn by a fault
  std::uint64_t cuts_inside_frame = 0;  // ... where an end was left with a part of a frame
  std::uint64_t verdicts_lost = 0;      // connections lost while a verdict was on its way
  std::uint64_t bytes = 0;
};

class SimNetwork final : public Network {
 public:
  // Borrows `queue` and `trace`.
  SimNetwork(EventQueue& queue, const NetworkOptions& options, std::uint64_t seed, TraceHash& trace);
  ~SimNetwork() override;

  [[nodiscard]] HostId AddHost() override;
  [[nodiscard]] std::unique_ptr<Transport> MakeTransport(HostId host, const Clock& clock) override;
  [[nodiscard]] std::uint32_t hosts() const { return hosts_; }
  void Watch(NetworkWatcher* watcher) {
    watcher_ = watcher;
    impairments_.Watch(watcher);
  }

  // As in Transport, for the node on `host` that `owner` stands for.
  Result<std::string> Listen(HostId host, const void* owner, const std::string& address,
                             TransportEvents& events);
  ConnectionId Connect(HostId host, const void* owner, const std::string& address, TransportEvents& events);
  void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
            std::span<const Pinned> payload, const FrameOrder& order);
  // Bytes that need not be a frame: for tests of what a bad peer may send.
  void SendRaw(ConnectionId id, std::span<const std::byte> bytes);
  void SetLimits(ConnectionId id, const FrameLimits& limits);
  void Close(ConnectionId id);
  void CloseAfterSend(ConnectionId id);
  [[nodiscard]] std::uint64_t QueuedBytes(ConnectionId id) const;
  // How long ago bytes last arrived; nothing if none have.
  [[nodiscard]] std::optional<Duration> SilentFor(ConnectionId id) const;
  // The node is gone: its listeners and connections end, and nobody calls its events again.
  void Forget(const void* owner);

  // Tears the connection of this number: each direction loses a random suffix of the bytes in flight, and
  // each end learns of it by itself.
  void Cut(std::uint64_t connection);
  [[nodiscard]] Impairments& impairments() { return impairments_; }

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

  [[nodiscard]] ConnectionRef Find(ConnectionId id) const;
  [[nodiscard]] static int SideOf(ConnectionId id) { return static_cast<int>((id.value() - 1) % 2); }
  [[nodiscard]] static ConnectionId IdOf(std::uint64_t number, int side) {
    return ConnectionId(number * 2 + static_cast<std::uint64_t>(side) + 1);
  }

  void TryAccept(const ConnectionRef& connection);  // a connect reaches the other host
  void ScheduleLeave(const ConnectionRef& connection, int side, Duration when);
  void Leave(const ConnectionRef& connection, int side);
  void ScheduleLanding(const ConnectionRef& connection, int side, Duration when);
  void Land(const ConnectionRef& connection, int side);
  void Deliver(const ConnectionRef& connection, int to, Chunk chunk);
  void Signal(const ConnectionRef& connection, int side, Chunk::Kind kind, Duration delay);
  // The end is gone for its own node, and told so if it is still listening.
  void End(const ConnectionRef& connection, int side, const Status& why);
  // The end has closed: nothing it queued leaves, and the other end will hear of it.
  void Shut(const ConnectionRef& connection, int side);
  void EraseIfOver(const ConnectionRef& connection);
  [[nodiscard]] std::size_t ChunkBytes(std::uint64_t queued);
  [[nodiscard]] Duration OneWay();

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
  Impairments impairments_;
  NetworkCounters counters_;
};

}  // namespace leeway::sim
