// IterationMultiset: iterations, one per member, that can be counted from a point on.
//
// Kept as the distinct ones with how many are at or below each: members of a job are in few iterations, so
// that nothing here grows with their number. Moving one up passes only the distinct ones in between, which is
// one step in the usual case of + 1.
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
  [[nodiscard]] std::vector<Iteration> Sorted() const;                 // each as often as it is in it
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  [[nodiscard]] std::uint32_t size() const { return groups_.empty() ? 0 : groups_.back().up_to; }
  // REQUIRES: not empty.
  [[nodiscard]] Iteration lowest() const { return groups_.front().value; }
  [[nodiscard]] Iteration highest() const { return groups_.back().value; }

 private:
  struct Group {
    Iteration value{};
    std::uint32_t up_to = 0;  // how many are at or below `value`
  };
  using Groups = std::vector<Group>;

  [[nodiscard]] Groups::const_iterator LowerBound(Iteration i) const;
  [[nodiscard]] Groups::iterator Find(Iteration i);
  // How many are below this group.
  [[nodiscard]] std::uint32_t Below(Groups::const_iterator group) const {
    return group == groups_.begin() ? 0 : (group - 1)->up_to;
  }

  Groups groups_;  // by value, none empty
};

}  // namespace leeway
