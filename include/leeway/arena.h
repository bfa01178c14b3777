// Arena: where the large buffers of a node come from.
//
// What is kSent lies, in the real world, in shared memory: a peer on the same host reads it where it lies,
// and nothing is copied to send it. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace leeway {

class Arena {
 public:
  enum class Use : std::uint8_t {
    kSent,  // read by peers
    kKept,  // read by this process alone
  };
  virtual ~Arena() = default;
  // `bytes` bytes (0 gives an address too), aligned to a cache line, with unspecified contents. Null if there
  // is no memory. Freed when the last owner lets go, on whatever thread, also when this Arena is long gone.
  [[nodiscard]] virtual std::shared_ptr<std::byte> Allocate(std::size_t bytes, Use use) = 0;
  // Whether this process may have so many bytes more, as far as its limits (ulimit -v) say. Asked before many
  // pieces are taken, since taking all that there is would leave nothing for anything else. The laziest says
  // yes: then the first Allocate that fails tells.
  [[nodiscard]] virtual bool HasRoomFor(std::uint64_t /*bytes*/) const { return true; }
  // Memory of this arena is about to be written for the first time, which costs a fault for every page: work
  // that takes those faults ahead, for another thread. It changes no contents, so the memory may be written
  // meanwhile. REQUIRES: the memory outlives the work. Empty, which is the laziest: nothing can be done
  // ahead.
  [[nodiscard]] virtual std::function<void()> Prepare(std::span<std::byte> /*memory*/) const { return {}; }
};

}  // namespace leeway
