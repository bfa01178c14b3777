// Ring: a queue that grows and keeps its memory. Unlike std::deque it allocates nothing while empty, nor when
// elements come and go. REQUIRES: T is default-constructible and movable; fewer than 2^31 elements at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/renew.h"

namespace leeway {

template <typename T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // From the oldest on. REQUIRES: i < size().
  [[nodiscard]] T& operator[](std::size_t i) { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }

  void push_back(T value) {
    if (size_ == slots_.size()) Grow();
    ++size_;
    Renew((*this)[size_ - 1], std::move(value));
  }
  // The element releases its contents at once.
  T pop_front() {
    LW_CHECK(size_ > 0, "the ring is empty");
    T value = std::move(slots_[head_]);
    Renew(slots_[head_]);
    --size_;
    // An empty ring begins anew: the slot used last may still be in the cache.
    head_ = size_ == 0 ? 0 : static_cast<std::uint32_t>((head_ + 1) & (slots_.size() - 1));
    return value;
  }

 private:
  void Grow() {
    std::vector<T> larger(slots_.empty() ? 4 : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> slots_;  // a power of two, or none
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace leeway
