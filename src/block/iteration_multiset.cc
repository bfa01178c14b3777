#include "block/iteration_multiset.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace leeway {
namespace {

// A chunk of so many is split in two, and two neighbours that have fewer than a quarter together become one.
constexpr std::size_t kGroupsMax = 64;

}  // namespace

IterationMultiset::Place IterationMultiset::PlaceOf(Iteration i) const {
  const auto after =
      std::ranges::upper_bound(chunks_, i, {}, [](const Chunk& chunk) { return chunk.groups.front().value; });
  const auto chunk = after == chunks_.begin() ? after : after - 1;
  const auto group = std::ranges::lower_bound(chunk->groups, i, {}, &Group::value);
  return {static_cast<std::size_t>(chunk - chunks_.begin()),
          static_cast<std::size_t>(group - chunk->groups.begin())};
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
  if (chunks_.empty()) chunks_.push_back({.below = 0, .groups = {Group{i, 0}}});
  Place place = PlaceOf(i);
  if (IsAt(place, i)) return place;
  Chunk& chunk = chunks_[place.chunk];
  const std::uint32_t before = Before(place) - chunk.below;
  chunk.groups.insert(chunk.groups.begin() + static_cast<std::ptrdiff_t>(place.group), Group{i, before});
  if (chunk.groups.size() < kGroupsMax) return place;
  const auto middle = chunk.groups.begin() + kGroupsMax / 2;
  const std::uint32_t first_half = (middle - 1)->up_to;
  Chunk upper{.below = chunk.below + first_half, .groups = {middle, chunk.groups.end()}};
  for (Group& group : upper.groups) group.up_to -= first_half;
  chunk.groups.erase(middle, chunk.groups.end());
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(place.chunk) + 1, std::move(upper));
  return PlaceOf(i);
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
  LW_CHECK(!empty() && IsAt(PlaceOf(from), from), "iteration {} is not in the set", from.value());
  if (from == to) return;
  const Place end = Make(to);  // first: it may move the other
  const Place begin = PlaceOf(from);
  Count(begin, end, -1);
  Tidy(begin);
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
