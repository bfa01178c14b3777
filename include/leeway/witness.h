// Witness: tells a reader whether memory of another owner still held the expected contents.
#pragma once

#include <atomic>
#include <cstdint>

namespace leeway {

// A plain value. The owner changes the word before it changes the memory. A reader that reads first and asks
// then knows that the contents were whole. A null word means that the memory is the reader's own.
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
