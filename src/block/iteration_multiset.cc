#include "block/iteration_multiset.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace leeway {
namespace {

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
  // Where no value is left out, as in most chunks of many, its place is known.
  const auto dense =
      static_cast<std::uint64_t>(i.value()) - static_cast<std::uint64_t>(groups.front().value.value());
  if (dense < groups.size() && groups[dense].value == i) return {chunk, dense};
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

bool IterationMultiset::Has(Place place, Iteration i) const {
  return IsAt(place, i) && Before({place.chunk, place.group + 1}) != Before(place);
}

IterationMultiset::Place IterationMultiset::Make(Iteration i) {
  if (chunks_.empty()) chunks_.push_back({.from = i, .below = 0, .groups = {Group{i, 0}}});
  Place place = PlaceOf(i);
  if (IsAt(place, i)) return place;
  if (chunks_[place.chunk].groups.size() == kGroupsMax) {
    MakeRoom(place.chunk);
    place = PlaceOf(i);
  }
  Chunk& chunk = chunks_[place.chunk];
  chunk.from = std::min(chunk.from, i);
  chunk.groups.insert(chunk.groups.begin() + static_cast<std::ptrdiff_t>(place.group),
                      Group{i, Before(place) - chunk.below});
  return place;
}

void IterationMultiset::MakeRoom(std::size_t index) {
  Chunk& chunk = chunks_[index];
  std::uint32_t before = 0;
  std::erase_if(chunk.groups,
                [&before](const Group& group) { return std::exchange(before, group.up_to) == group.up_to; });
  // Too full to be worth keeping whole.
  if (chunk.groups.size() < kGroupsMax / 2) return;
  const auto middle = chunk.groups.begin() + static_cast<std::ptrdiff_t>(chunk.groups.size() / 2);
  const std::uint32_t first_half = (middle - 1)->up_to;
  Chunk upper{
      .from = middle->value, .below = chunk.below + first_half, .groups = {middle, chunk.groups.end()}};
  for (Group& group : upper.groups) group.up_to -= first_half;
  chunk.groups.erase(middle, chunk.groups.end());
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(upper));
}

void IterationMultiset::Tidy(std::size_t chunk) {
  if (chunks_[chunk].groups.back().up_to == 0)
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk));
  if (chunks_.empty()) return;
  TrimFront();
  std::vector<Group>& last = chunks_.back().groups;
  while (last.size() > 1 && last[last.size() - 2].up_to == last.back().up_to) last.pop_back();
}

void IterationMultiset::TrimFront() {
  std::vector<Group>& first = chunks_.front().groups;
  first.erase(first.begin(), std::ranges::find_if(first, [](const Group& group) { return group.up_to > 0; }));
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
  // Groups from `to` on keep their counts, though more or fewer values are below their chunk.
  if (to.chunk < chunks_.size()) add(to.chunk, to.group, chunks_[to.chunk].groups.size(), -by);
}

void IterationMultiset::Add(Iteration i) {
  const Place place = Make(i);  // before there is an end
  Count(place, End(), 1);
  ++size_;
}

void IterationMultiset::Remove(Iteration i) {
  const Place place = empty() ? End() : PlaceOf(i);
  LW_CHECK(Has(place, i), "iteration {} is not in the set", i.value());
  Count(place, End(), -1);
  --size_;
  Tidy(place.chunk);
}

void IterationMultiset::Raise(Iteration from, Iteration to) {
  LW_CHECK(from <= to, "got a move from {} to {}, wanted one up", from.value(), to.value());
  const Place at = empty() ? End() : PlaceOf(from);
  LW_CHECK(Has(at, from), "iteration {} is not in the set", from.value());
  if (from == to || RaiseWithin(at, to)) return;
  const Place end = Make(to);  // first: it may move the other
  const Place begin = PlaceOf(from);
  Count(begin, end, -1);
  Tidy(begin.chunk);
}

bool IterationMultiset::RaiseWithin(Place at, Iteration to) {
  const std::size_t next = at.chunk + 1;
  if (next < chunks_.size() && to >= chunks_[next].from) return false;
  std::vector<Group>& groups = chunks_[at.chunk].groups;
  // When one worker is left in its group, the group moves with it.
  if (at.chunk == 0 && at.group == 0 && groups[0].up_to == 1 &&
      (groups.size() == 1 || to < groups[1].value)) {
    groups[0].value = to;
    return true;
  }
  const auto begin = groups.begin() + static_cast<std::ptrdiff_t>(at.group);
  auto end = begin + 1;
  while (end != groups.end() && end->value < to) ++end;
  const std::uint32_t up_to = (end - 1)->up_to;
  if (end == groups.end() || end->value != to) {
    if (groups.size() == kGroupsMax) return false;
    end = groups.insert(end, Group{to, up_to});
  }
  for (std::size_t group = at.group; groups.begin() + static_cast<std::ptrdiff_t>(group) != end; ++group)
    --groups[group].up_to;
  if (at.chunk == 0 && groups.front().up_to == 0) TrimFront();
  return true;
}

std::uint32_t IterationMultiset::CountFrom(Iteration i) const {
  if (empty() || i > highest()) return 0;
  return i <= lowest() ? size_ : size_ - Before(PlaceOf(i));
}

std::uint32_t IterationMultiset::CountUpTo(Iteration i) const {
  if (empty() || i < lowest()) return 0;
  if (i >= highest()) return size_;
  const Place place = PlaceOf(i);
  return Before({place.chunk, place.group + (IsAt(place, i) ? 1 : 0)});
}

std::optional<Iteration> IterationMultiset::NextFrom(Iteration i) const {
  if (empty()) return std::nullopt;
  Place place = PlaceOf(i);
  const std::uint32_t before = Before(place);
  if (before == size_) return std::nullopt;
  if (before == Before({place.chunk, chunks_[place.chunk].groups.size()})) place = {place.chunk + 1, 0};
  // Past those that nobody is in.
  const Chunk& chunk = chunks_[place.chunk];
  while (chunk.below + chunk.groups[place.group].up_to == before) ++place.group;
  return chunk.groups[place.group].value;
}

std::vector<Iteration> IterationMultiset::Sorted() const {
  std::vector<Iteration> sorted;
  for (const Chunk& chunk : chunks_) {
    for (const Group& group : chunk.groups) sorted.resize(chunk.below + group.up_to, group.value);
  }
  return sorted;
}

}  // namespace leeway
