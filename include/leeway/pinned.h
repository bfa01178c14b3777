// Pinned: bytes that are handed on without a copy, and what keeps them alive and unchanged meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace leeway {

// The pin is dropped when the receiver (a transport, a storage) needs the bytes no more, which is how their
// owner learns of it.
struct Pinned {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> pin;  // shared: the receiver and the owner of the bytes hold it independently
};

}  // namespace leeway
