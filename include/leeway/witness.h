// Witness: whether memory that someone else owns still holds what one was told to read there.
#pragma once

#include <atomic>
#include <cstdint>

namespace leeway {

// A plain value. The owner changes the word before it changes the memory, so a reader that has read first and
// asks then knows that what it read was whole. Without a word the memory is the reader's own.
struct Witness {
  const std::atomic<std::uint64_t>* word = nullptr;
  std::uint64_t wanted = 0;

  // Call after the last read.
  [[nodiscard]] bool Holds() const {
    if (word == nullptr) return true;
    std::atomic_thread_fence(std::memory_order_acquire);
    return word->load(std::memory_order_acquire) == wanted;
  }
};

}  // namespace leeway
