// RankSet: workers, taken out by rank; adding and removing cost the same however many there are.
//
// A bit per rank. Ranks from kBits on, which no job has, are in a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "leeway/ids.h"

namespace leeway {

class RankSet {
 public:
  static constexpr std::size_t kBits = std::size_t{1} << 16;

  void Add(WorkerId worker);
  void Remove(WorkerId worker);  // if it is in it
  std::optional<WorkerId> TakeLowest();
  [[nodiscard]] bool Contains(WorkerId worker) const;
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t low_ = 0;  // no bit is set in a word before this one
  std::set<WorkerId> far_;
  std::size_t size_ = 0;
};

}  // namespace leeway
