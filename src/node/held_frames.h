// HeldFrames: frames and closes of a node that may not leave yet, in their order, each with a number.
//
// Inbound uses it for a scheduler with a log: a frame leaves only after the log has the change that led to
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "leeway/transport.h"
#include "wire/kind.h"

namespace leeway {

class HeldFrames {
 public:
  // The limit of all frames and closes together. Beyond it nothing is taken. A connection that missed a frame
  // is closed: its peer comes back, asks again and is told everything anew.
  static constexpr std::uint64_t kBytesMax = 64ULL << 20;

  struct Held {
    ConnectionId to;
    wire::Kind kind{};
    std::vector<std::byte> body;
    bool close = false;  // no frame: closes the connection once all before it has left
  };

  // False: there is no room.
  [[nodiscard]] bool Add(ConnectionId to, wire::Kind kind, std::span<const std::byte> body);
  [[nodiscard]] bool AddClose(ConnectionId to);
  // The connection is gone, and with it its share.
  void Drop(ConnectionId to);
  // The number of the last that was added; 0 before the first.
  [[nodiscard]] std::uint64_t last() const { return last_; }
  // Takes out everything up to this number, in order.
  void Release(std::uint64_t up_to, const std::function<void(const Held&)>& let_go);
  [[nodiscard]] bool empty() const { return held_.empty(); }
  // Whether something waits for this connection. Takes as long as all that waits.
  [[nodiscard]] bool Has(ConnectionId to) const;

 private:
  struct Numbered {
    std::uint64_t number = 0;
    Held held;
  };
  [[nodiscard]] bool Push(Held held);
  [[nodiscard]] static std::uint64_t Weight(const Held& held) { return sizeof(Numbered) + held.body.size(); }

  std::uint64_t last_ = 0;
  std::uint64_t bytes_ = 0;
  std::deque<Numbered> held_;
};

}  // namespace leeway
