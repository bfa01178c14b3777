#include "block/iteration_multiset.h"

#include <algorithm>

#include "base/check.h"

namespace leeway {

IterationMultiset::Groups::const_iterator IterationMultiset::LowerBound(Iteration i) const {
  return std::ranges::lower_bound(groups_, i, {}, &Group::value);
}

IterationMultiset::Groups::iterator IterationMultiset::Find(Iteration i) {
  const auto at = groups_.begin() + (LowerBound(i) - groups_.cbegin());
  LW_CHECK(at != groups_.end() && at->value == i, "iteration {} is not in the set", i.value());
  return at;
}

void IterationMultiset::Add(Iteration i) {
  auto at = groups_.begin() + (LowerBound(i) - groups_.cbegin());
  if (at == groups_.end() || at->value != i) at = groups_.insert(at, Group{i, Below(at)});
  for (; at != groups_.end(); ++at) ++at->up_to;
}

void IterationMultiset::Remove(Iteration i) {
  const auto at = Find(i);
  for (auto group = at; group != groups_.end(); ++group) --group->up_to;
  if (at->up_to == Below(at)) groups_.erase(at);
}

void IterationMultiset::Raise(Iteration from, Iteration to) {
  LW_CHECK(from <= to, "got a move from {} to {}, wanted one up", from.value(), to.value());
  auto at = Find(from);
  if (from == to) return;
  auto end = at + 1;
  while (end != groups_.end() && end->value < to) ++end;
  const bool joins = end != groups_.end() && end->value == to;
  const bool alone = at->up_to - Below(at) == 1;
  if (alone && !joins) {
    // Those in between move down by one place, and it takes the place of the last: nothing is shifted twice.
    const std::uint32_t up_to = (end - 1)->up_to;
    std::move(at + 1, end, at);
    for (auto group = at; group != end - 1; ++group) --group->up_to;
    *(end - 1) = {to, up_to};
    return;
  }
  if (!joins) {
    const auto index = at - groups_.begin();
    end = groups_.insert(end, Group{to, (end - 1)->up_to});
    at = groups_.begin() + index;
  }
  for (auto group = at; group != end; ++group) --group->up_to;
  if (alone) groups_.erase(at);
}

std::uint32_t IterationMultiset::CountFrom(Iteration i) const { return size() - Below(LowerBound(i)); }

std::uint32_t IterationMultiset::CountUpTo(Iteration i) const {
  return Below(std::ranges::upper_bound(groups_, i, {}, &Group::value));
}

std::optional<Iteration> IterationMultiset::NextFrom(Iteration i) const {
  const auto at = LowerBound(i);
  if (at == groups_.end()) return std::nullopt;
  return at->value;
}

std::vector<Iteration> IterationMultiset::Sorted() const {
  std::vector<Iteration> sorted;
  for (const Group& group : groups_) sorted.resize(group.up_to, group.value);
  return sorted;
}

}  // namespace leeway
