// ParameterPair: the two parameter buffers of a table, shared by the user's thread and the node.
//
// The user reads the front buffer; the node lands answers in the back one. When the back holds a whole new version, the
// user swaps at the table's first use in an iteration (Take). One word of atomic state says who may touch the back
// buffer, so neither side ever writes what the other reads: kLanding (the node fills it), kWhole (either may take it),
// kNodeHolds (the node replaces a whole version by a newer one, briefly).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "leeway/ids.h"

namespace leeway {

class ParameterPair {
 public:
  // Uses the user's buffers if both are given, else its own.
  ParameterPair(std::size_t elements, float* first, float* second);

  // User's side.
  [[nodiscard]] std::span<const float> Front() const;
  [[nodiscard]] int front_index() const { return front_.load(std::memory_order_acquire); }
  // The highest progress p such that the table is usable in iteration p + 1; min() before the first values.
  [[nodiscard]] Iteration ready() const { return Iteration(ready_.load(std::memory_order_acquire)); }
  // Swaps if the back holds a whole version. False when the node holds the back just now: wait for it and try again.
  bool Take();

  // Node's side.
  [[nodiscard]] std::span<float> Back();
  // True when the back may be written (it holds nothing whole).
  [[nodiscard]] bool BackIsFree() const;
  // Takes a whole, untaken back buffer back from the user to replace parts of it; false if the user took it just now
  // (then the back is free).
  bool Hold();
  // The back is whole: the user may take it; usable after progress `p`.
  void Publish(Iteration p);
  // Nothing new landed, but the front (or the whole back) serves for progress `p` as well.
  void Extend(Iteration p);

 private:
  enum class State : std::uint8_t { kLanding, kWhole, kNodeHolds };
  std::size_t elements_;
  std::unique_ptr<float[]> own_;
  float* buffers_[2];
  std::atomic<int> front_{0};
  std::atomic<State> state_{State::kLanding};
  std::atomic<std::int64_t> ready_;
};

}  // namespace leeway
