// Gradient: the values that a push (or an Init) brings to a block: a buffer of the shard's own, or memory of
// someone else's that is read where it lies.
//
// What is lent is there during the call only, and counts only if it is Whole after the last read: the process
// that owns it may have taken it back meanwhile, and two reads may see different values.
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
  // Null: lent. What is to stay is copied then.
  [[nodiscard]] BufferRef TakeBuffer() { return std::move(buffer_); }
  [[nodiscard]] bool IsLent() const { return buffer_ == nullptr; }
  // After the last read: whether it was what was sent.
  [[nodiscard]] bool Whole() const { return witness_.Holds(); }
  [[nodiscard]] const Witness& witness() const { return witness_; }

 private:
  BufferRef buffer_;
  std::span<const float> values_;
  Witness witness_;
};

}  // namespace leeway
