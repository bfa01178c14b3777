// Pinned: bytes that a receiver takes without a copy, and the pin that keeps them alive and unchanged.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace leeway {

// The receiver (a transport, a storage) drops the pin when it no longer needs the bytes; this tells their
// owner.
struct Pinned {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> pin;  // shared: the receiver and the owner hold it independently
};

}  // namespace leeway
