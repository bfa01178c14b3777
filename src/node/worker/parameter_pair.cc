#include "node/worker/parameter_pair.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace leeway {

ParameterPair::ParameterPair(std::size_t elements, float* first, float* second)
    : elements_(elements), ready_(std::numeric_limits<std::int64_t>::min()) {
  LW_CHECK((first == nullptr) == (second == nullptr), "one of two buffers given");
  if (first != nullptr) {
    buffers_[0] = first;
    buffers_[1] = second;
    return;
  }
  own_ = std::make_unique<float[]>(2 * elements);
  buffers_[0] = own_.get();
  buffers_[1] = own_.get() + elements;
}

bool ParameterPair::Take() {
  std::uint32_t word = word_.load(std::memory_order_acquire);
  if (StateOf(word) == kLanding) return true;
  if (StateOf(word) == kNodeHolds) return false;
  // Release: the user's reads of the old front come before the node's writes into it. Acquire: the node's
  // writes into the back come before the user's reads. A failure means that the node held the back first.
  return word_.compare_exchange_strong(word, Word(1 - FrontOf(word), kLanding), std::memory_order_acq_rel,
                                       std::memory_order_acquire);
}

bool ParameterPair::Hold() {
  std::uint32_t word = word_.load(std::memory_order_acquire);
  if (StateOf(word) != kWhole) return false;
  return word_.compare_exchange_strong(word, Word(FrontOf(word), kNodeHolds), std::memory_order_acq_rel,
                                       std::memory_order_acquire);
}

void ParameterPair::Publish(Iteration p) {
  const std::uint32_t word = word_.load(std::memory_order_acquire);
  LW_CHECK(StateOf(word) != kWhole, "published twice");
  // Only the node changes the word in these two states, so a plain store loses nothing.
  word_.store(Word(FrontOf(word), kWhole), std::memory_order_release);
  Extend(p);
}

void ParameterPair::Extend(Iteration p) {
  const std::int64_t now = ready_.load(std::memory_order_relaxed);
  ready_.store(std::max(now, p.value()), std::memory_order_release);
}

}  // namespace leeway
