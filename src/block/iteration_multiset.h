// IterationMultiset: iterations, one per member, that can be counted from a point on in O(log N).
//
// A sorted array. Moving one iteration up passes only the distinct ones in between, which is one step in the
// usual case of + 1; adding and removing, which membership changes do, shift the array.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "leeway/ids.h"

namespace leeway {

class IterationMultiset {
 public:
  void Add(Iteration i);
  // REQUIRES: i is in it.
  void Remove(Iteration i);
  // Replaces one `from` by `to`. REQUIRES: from is in it, from <= to.
  void Raise(Iteration from, Iteration to);

  [[nodiscard]] std::uint32_t CountFrom(Iteration i) const;            // those >= i
  [[nodiscard]] std::uint32_t CountUpTo(Iteration i) const;            // those <= i
  [[nodiscard]] std::optional<Iteration> NextFrom(Iteration i) const;  // the lowest one >= i
  [[nodiscard]] const std::vector<Iteration>& sorted() const { return sorted_; }
  [[nodiscard]] bool empty() const { return sorted_.empty(); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(sorted_.size()); }
  // REQUIRES: not empty.
  [[nodiscard]] Iteration lowest() const { return sorted_.front(); }
  [[nodiscard]] Iteration highest() const { return sorted_.back(); }

 private:
  std::vector<Iteration> sorted_;
};

}  // namespace leeway
