// Gradient: the values that a push (or an Init) brings to a block. They are in a buffer of the shard, or lent
// by another process and read in its memory.
//
// A lent gradient is there during the call only. It counts only if it is Whole after the last read: its owner
// may have taken it back meanwhile, and two reads may see different values.
#pragma once

#include <span>
#include <utility>

#include "block/buffer_pool.h"
#include "leeway/witness.h"

namespace leeway {

class Gradient {
 public:
  // Not explicit: a buffer is one.
  Gradient(BufferRef buffer) : buffer_(std::move(buffer)) {  // NOLINT(google-explicit-constructor)
    if (buffer_ != nullptr) values_ = buffer_->floats();
  }
  Gradient(std::span<const float> lent, const Witness& witness) : values_(lent), witness_(witness) {}

  [[nodiscard]] std::span<const float> values() const { return values_; }
  // Null if the gradient is lent. The block copies then what it keeps.
  [[nodiscard]] BufferRef TakeBuffer() { return std::move(buffer_); }
  [[nodiscard]] bool IsLent() const { return buffer_ == nullptr; }
  // After the last read: whether the values were those that the owner sent.
  [[nodiscard]] bool Whole() const { return witness_.Holds(); }
  [[nodiscard]] const Witness& witness() const { return witness_; }

 private:
  BufferRef buffer_;
  std::span<const float> values_;
  Witness witness_;
};

}  // namespace leeway
