#include "block/iteration_multiset.h"

#include <algorithm>

#include "base/check.h"

namespace leeway {

void IterationMultiset::Add(Iteration i) { sorted_.insert(std::ranges::upper_bound(sorted_, i), i); }

void IterationMultiset::Remove(Iteration i) {
  const auto at = std::ranges::lower_bound(sorted_, i);
  LW_CHECK(at != sorted_.end() && *at == i, "iteration {} is not in the set", i.value());
  sorted_.erase(at);
}

void IterationMultiset::Raise(Iteration from, Iteration to) {
  auto at = std::ranges::upper_bound(sorted_, from);
  LW_CHECK(at != sorted_.begin() && *(at - 1) == from, "iteration {} is not in the set", from.value());
  LW_CHECK(from <= to, "got a move from {} to {}, wanted one up", from.value(), to.value());
  --at;  // the last of its equals: only groups of higher ones are in the way
  while (at + 1 != sorted_.end() && *(at + 1) < to) {
    const Iteration group = *(at + 1);
    *at = group;  // the whole group moves down by one place, which differs only at its two ends
    at = std::upper_bound(at + 1, sorted_.end(), group) - 1;
  }
  *at = to;
}

std::uint32_t IterationMultiset::CountFrom(Iteration i) const {
  return static_cast<std::uint32_t>(sorted_.end() - std::ranges::lower_bound(sorted_, i));
}

std::uint32_t IterationMultiset::CountUpTo(Iteration i) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(sorted_, i) - sorted_.begin());
}

std::optional<Iteration> IterationMultiset::NextFrom(Iteration i) const {
  const auto at = std::ranges::lower_bound(sorted_, i);
  if (at == sorted_.end()) return std::nullopt;
  return *at;
}

}  // namespace leeway
