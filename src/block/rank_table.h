// RankTable: one entry per worker, found by its rank in one step however many there are.
//
// Ranks are dense, so entries lie in an array, with a bit for each that says whether the worker has one. An
// entry takes no more memory than it must, and an absent one is not looked at. A rank far above all others,
// which only a peer that makes it up has, goes into a tree and costs no memory for the ranks in between.
// Entries are default-constructible.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "leeway/ids.h"

namespace leeway {

template <typename Entry>
class RankTable {
 public:
  // Null for a worker without an entry. Valid until another worker gets one.
  [[nodiscard]] Entry* Find(WorkerId worker) { return const_cast<Entry*>(std::as_const(*this).Find(worker)); }
  [[nodiscard]] const Entry* Find(WorkerId worker) const {
    if (worker.index() < near_.size()) {
      return is_near_[worker.index()] ? &near_[worker.index()] : nullptr;
    }
    if (far_.empty()) return nullptr;
    const auto found = far_.find(worker);
    return found == far_.end() ? nullptr : &found->second;
  }
  // Makes an entry if the worker has no entry.
  Entry& operator[](WorkerId worker) {
    if (Entry* const found = Find(worker)) return *found;
    ++size_;
    if (worker.index() >= near_.size()) {
      if (worker.index() >= kSlack + kSlackFactor * size_) return far_[worker];
      Grow(worker);
    }
    is_near_[worker.index()] = true;
    return near_[worker.index()];
  }
  void Erase(WorkerId worker) {
    if (worker.index() < near_.size()) {
      size_ -= is_near_[worker.index()] ? 1 : 0;
      is_near_[worker.index()] = false;
      near_[worker.index()] = Entry();
    } else {
      size_ -= far_.erase(worker);
    }
  }
  // visit(WorkerId, Entry&), by rank.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (std::size_t rank = 0; rank < near_.size(); ++rank) {
      if (is_near_[rank]) visit(WorkerId(static_cast<WorkerId::rep>(rank)), near_[rank]);
    }
    for (auto& [worker, entry] : far_) visit(worker, entry);
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    const_cast<RankTable*>(this)->ForEach(
        [&visit](WorkerId worker, const Entry& entry) { visit(worker, entry); });
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  // How far above its size the array may reach.
  static constexpr std::size_t kSlack = 64, kSlackFactor = 4;

  // A far entry may be near now: every rank is in one place only.
  void Grow(WorkerId worker) {
    // Ranks come one after the other: room for some more at a time.
    const std::size_t ranks = std::min(std::bit_ceil(worker.index() + 1), worker.index() + kSlack);
    near_.resize(ranks);
    is_near_.resize(ranks);
    while (!far_.empty() && far_.begin()->first.index() < ranks) {
      const std::size_t rank = far_.begin()->first.index();
      near_[rank] = std::move(far_.begin()->second);
      is_near_[rank] = true;
      far_.erase(far_.begin());
    }
  }

  std::vector<Entry> near_;    // by rank; where nobody has one, as it was made
  std::vector<bool> is_near_;  // as many
  std::map<WorkerId, Entry> far_;
  std::size_t size_ = 0;
};

}  // namespace leeway
