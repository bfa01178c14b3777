// ConnectionTable: one entry per connection of a node, found in one step for every frame.
//
// A transport numbers its connections by slots that are small and used again (ConnectionId), so entries are
// found in an array by their slot. One whose slot is far above all others, or still has an entry of an
// earlier connection in it, goes into a map beside it: slower, and no less right. An entry stays where it is
// until it is erased.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "leeway/transport.h"

namespace leeway {

template <typename Entry>
class ConnectionTable {
 public:
  // Null for a connection without an entry.
  [[nodiscard]] Entry* Find(ConnectionId id) { return const_cast<Entry*>(std::as_const(*this).Find(id)); }
  [[nodiscard]] const Entry* Find(ConnectionId id) const {
    const std::size_t slot = SlotOf(id);
    if (slot < near_.size() && near_[slot].id == id && id != ConnectionId{}) return &near_[slot].entry;
    if (far_.empty()) return nullptr;
    const auto found = far_.find(id);
    return found == far_.end() ? nullptr : &found->second;
  }
  // Makes an entry if the connection has no entry. REQUIRES: an id of a connection, not 0.
  Entry& operator[](ConnectionId id) {
    if (Entry* const found = Find(id)) return *found;
    ++size_;
    const std::size_t slot = SlotOf(id);
    if (slot >= near_.size() && slot < kSlack + kSlackFactor * size_) near_.resize(slot + 1);
    if (slot >= near_.size() || near_[slot].id != ConnectionId{}) return far_[id];
    near_[slot].id = id;
    return near_[slot].entry;
  }
  // False if there was none.
  bool Erase(ConnectionId id) {
    if (Find(id) == nullptr) return false;
    --size_;
    const std::size_t slot = SlotOf(id);
    if (slot < near_.size() && near_[slot].id == id) {
      near_[slot] = Place();
    } else {
      far_.erase(id);
    }
    return true;
  }
  // In the order of their numbers.
  [[nodiscard]] std::vector<ConnectionId> Ids() const {
    std::vector<ConnectionId> ids;
    ids.reserve(size_);
    for (const Place& place : near_) {
      if (place.id != ConnectionId{}) ids.push_back(place.id);
    }
    for (const auto& [id, entry] : far_) ids.push_back(id);
    std::ranges::sort(ids);
    return ids;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  // How far above its size the array may reach.
  static constexpr std::size_t kSlack = 64, kSlackFactor = 4;

  struct Place {
    ConnectionId id;  // 0: free
    Entry entry;
  };
  std::deque<Place> near_;  // by slot; grows at its end, and moves nothing
  std::unordered_map<ConnectionId, Entry> far_;
  std::size_t size_ = 0;
};

}  // namespace leeway
