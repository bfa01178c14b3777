// Connection: two ends and a pipe each way. SimNetwork and the pending events of a connection share it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "leeway/transport.h"
#include "sim/event_queue.h"
#include "sim/link_model.h"
#include "sim/pipe.h"
#include "sim/trace.h"
#include "wire/frame.h"

namespace leeway::sim {

// One end, as its node sees it: incoming bytes go through the real frame decoder to the node's events.
class ConnectionEnd final : private wire::FrameSink {
 public:
  enum class State : std::uint8_t {
    kConnecting,  // no answer to the connect yet
    kHasty,       // neither, and its node closes it once it is up and the queue has left
    kOpen,
    kDraining,  // its node closes it once the queue has left
    kClosed,
  };

  ConnectionEnd(ConnectionId id, HostId host, const void* owner, State state, TransportEvents* events,
                const EventQueue& queue, TraceHash& trace);

  // Takes incoming bytes. An error is final; the node does not know of it yet.
  [[nodiscard]] Status Receive(std::span<const std::byte> bytes);
  void SetLimits(const FrameLimits& limits) {
    if (reader_.has_value()) reader_->SetLimits(limits);
  }
  // When bytes last arrived, on the world's clock.
  [[nodiscard]] std::optional<Duration> last_received() const { return last_received_; }
  [[nodiscard]] bool AtBoundary() const { return !reader_.has_value() || reader_->AtBoundary(); }
  // Closes this end: half-filled landings are given back, the node gets no more events, and nothing more
  // leaves.
  void Shut();

  const ConnectionId id;
  const HostId host;
  const void* const owner;  // whose end it is
  State state;
  TransportEvents* events;   // null once closed
  Pipe out;                  // towards the other end
  bool leave_due = false;    // an event that takes bytes off `out` is scheduled
  bool landing_due = false;  // an event that lands a chunk of `out` is scheduled

 private:
  Result<Landing> OnFrameStart(const FrameHead& head, std::span<const std::byte> body) override;
  void OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) override;
  [[nodiscard]] bool KeepReading() const override { return state == State::kOpen; }

  const EventQueue& queue_;
  TraceHash& trace_;
  std::optional<wire::FrameReader> reader_;  // gone once closed
  bool receiving_ = false;
  std::optional<Duration> last_received_;
};

struct Connection {
  std::uint64_t number = 0;
  std::string address;                     // that was connected to
  std::unique_ptr<ConnectionEnd> ends[2];  // [0] connected, [1] accepted (null until then)
  bool torn = false;                       // by a fault

  [[nodiscard]] bool Live() const {
    const auto open = [](const auto& end) {
      return end != nullptr && end->state == ConnectionEnd::State::kOpen;
    };
    return open(ends[0]) && open(ends[1]);
  }
};

using ConnectionRef =
    std::shared_ptr<Connection>;  // shared: events under way outlive the network's own entry

}  // namespace leeway::sim
