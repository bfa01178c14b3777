// ParameterPair: the two parameter buffers of a table, shared by the user's thread and the node.
//
// The user reads the front buffer; the node lands answers in the back one. When the back holds a whole new
// version, the user swaps at the table's first use in an iteration (Take). Which buffer is the front and who
// may touch the back are bits of one atomic word, so a swap is one step: the node never sees a swapped front
// with an unswapped state, and neither side ever writes what the other reads. The states of the back:
// kLanding (the node fills it), kWhole (either may take it), kNodeHolds (the node replaces a whole version by
// a newer one, briefly).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "leeway/ids.h"

namespace leeway {

// A line of memory of its own, since two threads write it.
class alignas(64) ParameterPair {
 public:
  // Uses the user's buffers if both are given, else its own (zeros). The front is `first` until the first
  // swap.
  ParameterPair(std::size_t elements, float* first, float* second);
  ParameterPair(const ParameterPair&) = delete;
  ParameterPair& operator=(const ParameterPair&) = delete;

  // User's side. The node may read the front too, while it owns the back (no swap can happen then).
  [[nodiscard]] std::span<const float> Front() const { return {buffers_[front_index()], elements_}; }
  // The front; empty if what landed there says that there is nothing (relay: no gradient).
  [[nodiscard]] std::span<const float> Read() const {
    const int front = front_index();
    return {buffers_[front], empty_[front] ? 0 : elements_};
  }
  [[nodiscard]] int front_index() const { return FrontOf(word_.load(std::memory_order_acquire)); }
  // The highest progress p such that the table is usable in iteration p + 1; min() before the first values.
  [[nodiscard]] Iteration ready() const { return Iteration(ready_.load(std::memory_order_acquire)); }
  // Swaps if the back holds a whole version. False when the node holds the back just now: wait for it and try
  // again.
  bool Take();

  // Node's side. REQUIRES of Back: BackIsFree(), or held.
  [[nodiscard]] std::span<float> Back() { return {buffers_[1 - front_index()], elements_}; }
  // True when the back may be written (it holds nothing whole). Stays true until the node publishes.
  [[nodiscard]] bool BackIsFree() const { return StateOf(word_.load(std::memory_order_acquire)) == kLanding; }
  // Both, in no order: which is the front may change at any time unless BackIsFree().
  [[nodiscard]] std::span<const float> Buffer(int index) const { return {buffers_[index], elements_}; }
  // Takes a whole, untaken back buffer back from the user to replace parts of it; false if the user took it
  // just now (then the back is free).
  bool Hold();
  // Whether what the back holds stands for nothing. REQUIRES: as Back.
  void SetBackEmpty(bool empty) { empty_[1 - front_index()] = empty; }
  // The back is whole: the user may take it; usable after progress `p`. REQUIRES: BackIsFree(), or held.
  void Publish(Iteration p);
  // Nothing new landed, but the front (or the whole back) serves for progress `p` as well.
  void Extend(Iteration p);

  [[nodiscard]] std::size_t elements() const { return elements_; }

 private:
  // The word: bit 0 is the front's index, the bits above are the state of the back.
  enum State : std::uint32_t { kLanding = 0, kWhole = 1, kNodeHolds = 2 };
  static constexpr std::uint32_t Word(int front, State state) {
    return (state << 1) | static_cast<std::uint32_t>(front);
  }
  static constexpr int FrontOf(std::uint32_t word) { return static_cast<int>(word & 1U); }
  static constexpr State StateOf(std::uint32_t word) { return static_cast<State>(word >> 1); }

  const std::size_t elements_;
  std::unique_ptr<float[]> own_;
  float* buffers_[2];
  bool empty_[2] = {false, false};  // as Back and Front: who may touch a buffer may touch its flag
  std::atomic<std::uint32_t> word_{Word(0, kLanding)};
  std::atomic<std::int64_t> ready_;
};

}  // namespace leeway
