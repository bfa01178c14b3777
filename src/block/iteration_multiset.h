// IterationMultiset: iterations, one per member, that can be counted from a point on.
//
// Kept as the distinct ones with how many are at or below each, in chunks of a few dozen: members of a job
// are in few iterations, and where they are in many (asp), no call moves or counts more than a chunk. Moving
// one up passes only the distinct ones in between, which is one step in the usual case of + 1. Only Add and
// Remove (members come and go) touch every chunk above.
//
// A group that nobody is in any more stays until its chunk is full or empty: the next one who comes by needs
// it, and neither leaving nor coming then moves the groups behind it.
#pragma once

#include <cstddef>
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
  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  // REQUIRES: not empty.
  [[nodiscard]] Iteration lowest() const { return chunks_.front().groups.front().value; }
  [[nodiscard]] Iteration highest() const { return chunks_.back().groups.back().value; }

 private:
  struct Group {
    Iteration value{};
    std::uint32_t up_to = 0;  // how many of its chunk are at or below `value`
  };
  struct Chunk {
    Iteration from{};           // no value of it is lower, and none of chunks before is as high
    std::uint32_t below = 0;    // how many are in chunks before
    std::vector<Group> groups;  // by value; somebody is in the chunk, if not in every group
  };
  // A group, or where it would be: within a chunk, or at its end.
  struct Place {
    std::size_t chunk = 0, group = 0;
  };

  // Of the lowest value >= i: in the chunk that i belongs to, at the end of which all may be lower. REQUIRES:
  // not empty.
  [[nodiscard]] Place PlaceOf(Iteration i) const;
  [[nodiscard]] bool IsAt(Place place, Iteration i) const;
  // How many are before this place.
  [[nodiscard]] std::uint32_t Before(Place place) const;
  // Whether somebody is in i, whose place this is.
  [[nodiscard]] bool Has(Place place, Iteration i) const;
  // PlaceOf(i), where there is a group of i now, if only an empty one.
  Place Make(Iteration i);
  // Raise within one chunk, as most are; false if `to` belongs to another or there is no room for it.
  bool RaiseWithin(Place at, Iteration to);
  // Makes room in a full chunk.
  void MakeRoom(std::size_t chunk);
  // Takes the chunk out if nobody is in it any more, and sees that somebody is in the lowest and the highest
  // group.
  void Tidy(std::size_t chunk);
  void TrimFront();
  // Adds `by` to what counts for all groups from one place up to another.
  void Count(Place from, Place to, std::int32_t by);
  [[nodiscard]] Place End() const { return {chunks_.size(), 0}; }

  std::vector<Chunk> chunks_;  // by value
  std::uint32_t size_ = 0;
};

}  // namespace leeway
