// RankTable: one entry per worker, found by its rank in one step however many there are.
//
// Ranks are dense, so entries lie in an array. A rank far above all others (nothing but a peer that makes it
// up has one) goes into a tree beside it and costs no memory for the ranks in between.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
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
      const std::optional<Entry>& entry = near_[worker.index()];
      return entry ? &*entry : nullptr;
    }
    if (far_.empty()) return nullptr;
    const auto found = far_.find(worker);
    return found == far_.end() ? nullptr : &found->second;
  }
  // Makes an entry if there is none.
  Entry& operator[](WorkerId worker) {
    if (Entry* const found = Find(worker)) return *found;
    ++size_;
    if (worker.index() >= near_.size()) {
      if (worker.index() >= kSlack + kSlackFactor * size_) return far_[worker];
      Grow(worker);
    }
    return near_[worker.index()].emplace();
  }
  void Erase(WorkerId worker) {
    if (worker.index() < near_.size()) {
      size_ -= near_[worker.index()].has_value() ? 1 : 0;
      near_[worker.index()].reset();
    } else {
      size_ -= far_.erase(worker);
    }
  }
  // visit(WorkerId, Entry&), by rank.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (std::size_t rank = 0; rank < near_.size(); ++rank) {
      if (near_[rank]) visit(WorkerId(static_cast<WorkerId::rep>(rank)), *near_[rank]);
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

  // What was far may be near now: every rank is in one place only.
  void Grow(WorkerId worker) {
    near_.resize(worker.index() + 1);
    while (!far_.empty() && far_.begin()->first <= worker) {
      near_[far_.begin()->first.index()] = std::move(far_.begin()->second);
      far_.erase(far_.begin());
    }
  }

  std::vector<std::optional<Entry>> near_;  // by rank
  std::map<WorkerId, Entry> far_;
  std::size_t size_ = 0;
};

}  // namespace leeway
