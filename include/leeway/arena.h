// Arena: allocates the large buffers of a node.
//
// In a real process kSent buffers lie in shared memory, so that a peer on the same host reads them in place
// and no send copies them. Thread rule: any thread may call it at any time.
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
    kSent,  // peers read it
    kKept,  // only this process reads it
  };
  virtual ~Arena() = default;
  // Returns `bytes` bytes, aligned to a cache line, with unspecified contents. Returns null if memory is
  // short; 0 bytes give an address too. The last owner frees the memory, on any thread, even after the Arena
  // is destroyed.
  [[nodiscard]] virtual std::shared_ptr<std::byte> Allocate(std::size_t bytes, Use use) = 0;
  // Returns whether the limits of this process (ulimit -v) allow `bytes` more. Callers ask before they
  // allocate many pieces, because a process that uses up its memory can do nothing else. The laziest correct
  // implementation returns true: then the first Allocate that fails tells the caller.
  [[nodiscard]] virtual bool HasRoomFor(std::uint64_t /*bytes*/) const { return true; }
  // Returns a job that takes the page faults of `memory` on another thread, before its first write. The job
  // changes no contents, so the owner may write meanwhile. REQUIRES: the memory outlives the job. The laziest
  // correct implementation returns an empty function: nothing is done ahead.
  [[nodiscard]] virtual std::function<void()> Prepare(std::span<std::byte> /*memory*/) const { return {}; }
};

}  // namespace leeway
