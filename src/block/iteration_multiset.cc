#include "block/iteration_multiset.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace leeway {
namespace {

// A chunk of so many is split in two, and two neighbours that have fewer than a quarter together become one.
constexpr std::size_t kGroupsMax = 64;

// The last item whose key is at most i, or the first. A step adds or does not, without a branch: which worker
// comes next cannot be guessed, and wrong guesses cost more than the search.
template <typename Item>
std::size_t LastUpTo(const std::vector<Item>& items, Iteration i, Iteration Item::*key) {
  const Item* at = items.data();
  for (std::size_t rest = items.size(); rest > 1;) {
    const std::size_t half = rest / 2;
    at += (at[half].*key <= i ? half : 0);
    rest -= half;
  }
  return static_cast<std::size_t>(at - items.data());
}

}  // namespace

IterationMultiset::Place IterationMultiset::PlaceOf(Iteration i) const {
  const std::size_t chunk = LastUpTo(chunks_, i, &Chunk::from);
  const std::vector<Group>& groups = chunks_[chunk].groups;
  const std::size_t group = LastUpTo(groups, i, &Group::value);
  return {chunk, group + (groups[group].value < i ? 1 : 0)};
}

bool IterationMultiset::IsAt(Place place, Iteration i) const {
  if (place.chunk == chunks_.size()) return false;
  const std::vector<Group>& groups = chunks_[place.chunk].groups;
  return place.group < groups.size() && groups[place.group].value == i;
}

std::uint32_t IterationMultiset::Before(Place place) const {
  if (place.chunk == chunks_.size()) return size_;
  const Chunk& chunk = chunks_[place.chunk];
  return chunk.below + (place.group == 0 ? 0 : chunk.groups[place.group - 1].up_to);
}

IterationMultiset::Place IterationMultiset::Make(Iteration i) {
  if (chunks_.empty()) chunks_.push_back({.from = i, .below = 0, .groups = {Group{i, 0}}});
  const Place place = PlaceOf(i);
  if (IsAt(place, i)) return place;
  Chunk& chunk = chunks_[place.chunk];
  chunk.from = std::min(chunk.from, i);
  chunk.groups.insert(chunk.groups.begin() + static_cast<std::ptrdiff_t>(place.group),
                      Group{i, Before(place) - chunk.below});
  if (chunk.groups.size() < kGroupsMax) return place;
  Split(place.chunk);
  return PlaceOf(i);
}

void IterationMultiset::Split(std::size_t index) {
  Chunk& chunk = chunks_[index];
  if (chunk.groups.size() < kGroupsMax) return;
  const auto middle = chunk.groups.begin() + kGroupsMax / 2;
  const std::uint32_t first_half = (middle - 1)->up_to;
  Chunk upper{
      .from = middle->value, .below = chunk.below + first_half, .groups = {middle, chunk.groups.end()}};
  for (Group& group : upper.groups) group.up_to -= first_half;
  chunk.groups.erase(middle, chunk.groups.end());
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(upper));
}

void IterationMultiset::Tidy(Place place) {
  Chunk& chunk = chunks_[place.chunk];
  const auto group = chunk.groups.begin() + static_cast<std::ptrdiff_t>(place.group);
  if (chunk.below + group->up_to != Before(place)) return;
  chunk.groups.erase(group);
  const auto at = chunks_.begin() + static_cast<std::ptrdiff_t>(place.chunk);
  if (chunk.groups.empty()) {
    chunks_.erase(at);
    return;
  }
  const auto next = at + 1;
  if (next == chunks_.end() || at->groups.size() + next->groups.size() >= kGroupsMax / 4) return;
  const std::uint32_t here = at->groups.back().up_to;
  for (const Group& moved : next->groups) at->groups.push_back({moved.value, here + moved.up_to});
  chunks_.erase(next);
}

void IterationMultiset::Count(Place from, Place to, std::int32_t by) {
  const auto add = [this](std::size_t chunk, std::size_t begin, std::size_t end, std::int32_t more) {
    std::vector<Group>& groups = chunks_[chunk].groups;
    for (; begin < end; ++begin) groups[begin].up_to += static_cast<std::uint32_t>(more);
  };
  if (from.chunk == to.chunk) return add(from.chunk, from.group, to.group, by);
  add(from.chunk, from.group, chunks_[from.chunk].groups.size(), by);
  for (std::size_t chunk = from.chunk + 1; chunk < chunks_.size() && chunk <= to.chunk; ++chunk)
    chunks_[chunk].below += static_cast<std::uint32_t>(by);
  // Those from `to` on are as they were, though more or fewer are below their chunk.
  if (to.chunk < chunks_.size()) add(to.chunk, to.group, chunks_[to.chunk].groups.size(), -by);
}

void IterationMultiset::Add(Iteration i) {
  const Place place = Make(i);  // before there is an end
  Count(place, End(), 1);
  ++size_;
}

void IterationMultiset::Remove(Iteration i) {
  const Place place = empty() ? End() : PlaceOf(i);
  LW_CHECK(IsAt(place, i), "iteration {} is not in the set", i.value());
  Count(place, End(), -1);
  --size_;
  Tidy(place);
}

void IterationMultiset::Raise(Iteration from, Iteration to) {
  LW_CHECK(from <= to, "got a move from {} to {}, wanted one up", from.value(), to.value());
  const Place at = empty() ? End() : PlaceOf(from);
  LW_CHECK(IsAt(at, from), "iteration {} is not in the set", from.value());
  if (from == to || RaiseWithin(at, to)) return;
  const Place end = Make(to);  // first: it may move the other
  const Place begin = PlaceOf(from);
  Count(begin, end, -1);
  Tidy(begin);
}

bool IterationMultiset::RaiseWithin(Place at, Iteration to) {
  const std::size_t next = at.chunk + 1;
  if (next < chunks_.size() && to >= chunks_[next].from) return false;
  std::vector<Group>& groups = chunks_[at.chunk].groups;
  const auto begin = groups.begin() + static_cast<std::ptrdiff_t>(at.group);
  auto end = begin + 1;
  while (end != groups.end() && end->value < to) ++end;
  const bool joins = end != groups.end() && end->value == to;
  const bool alone = begin->up_to == (begin == groups.begin() ? 0 : (begin - 1)->up_to) + 1;
  const std::uint32_t up_to = (end - 1)->up_to;
  for (auto group = begin; group != end; ++group) --group->up_to;
  if (alone && !joins) {
    // Those in between move down by one place, and it takes the place of the last.
    std::move(begin + 1, end, begin);
    *(end - 1) = {to, up_to};
  } else if (!joins) {
    groups.insert(end, Group{to, up_to});
    Split(at.chunk);
  } else if (alone) {
    Tidy(at);
  }
  return true;
}

std::uint32_t IterationMultiset::CountFrom(Iteration i) const {
  return empty() ? 0 : size_ - Before(PlaceOf(i));
}

std::uint32_t IterationMultiset::CountUpTo(Iteration i) const {
  if (empty()) return 0;
  const Place place = PlaceOf(i);
  return Before({place.chunk, place.group + (IsAt(place, i) ? 1 : 0)});
}

std::optional<Iteration> IterationMultiset::NextFrom(Iteration i) const {
  if (empty()) return std::nullopt;
  const Place place = PlaceOf(i);
  const std::vector<Group>& groups = chunks_[place.chunk].groups;
  if (place.group < groups.size()) return groups[place.group].value;
  if (place.chunk + 1 == chunks_.size()) return std::nullopt;
  return chunks_[place.chunk + 1].groups.front().value;
}

std::vector<Iteration> IterationMultiset::Sorted() const {
  std::vector<Iteration> sorted;
  for (const Chunk& chunk : chunks_) {
    for (const Group& group : chunk.groups) sorted.resize(chunk.below + group.up_to, group.value);
  }
  return sorted;
}

}  // namespace leeway
