// SendOrder and OrderedFrames: the order in which the waiting frames of one connection leave.
//
// Control frames leave first, then verdicts, then frames by priority; see FrameOrder. Frames that name a
// common block leave in the order in which they came. A frame that waits becomes more urgent: each
// kBytesPerPriority bytes that come after it count as one priority. So a frame of priority p leaves before
// frames that come p times as many bytes later, whatever their priority. A pure state machine, used by the
// transport over sockets and by both simulated networks. Belongs to one direction of a connection.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "leeway/ids.h"
#include "leeway/transport.h"

namespace leeway::wire {

class SendOrder {
 public:
  // 255 times this, a GiB, is the most that passes a frame of the lowest priority. An iteration of a model of
  // 250 million parameters has as many bytes: its first layer passes its last one.
  static constexpr std::uint64_t kBytesPerPriority = std::uint64_t{4} << 20;

  // The frame with the lowest rank leaves next.
  struct Rank {
    std::uint32_t era = 0;    // no frame passes into another era
    std::uint64_t key = 0;    // in the bytes that have come
    std::uint64_t count = 0;  // of frames that came before
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  // The rank of a frame of so many bytes that comes now.
  [[nodiscard]] Rank Next(const FrameOrder& order, std::uint64_t bytes);
  // No frame waits: those that come now need not heed any that came before.
  void OnEmpty() {
    ++era_;
    named_.clear();
  }

 private:
  struct Named {
    std::uint32_t era = 0;
    std::uint64_t key = 0;
  };

  std::uint32_t era_ = 1;
  std::uint64_t bytes_ = 0;  // that have come
  std::uint64_t count_ = 0;
  std::unordered_map<BlockId, Named> named_;  // the last frame that named each block
};

// Waiting frames of a type of the owner's.
template <typename Frame>
class OrderedFrames {
 public:
  void Add(Frame frame, const FrameOrder& order, std::uint64_t bytes) {
    heap_.push_back({order_.Next(order, bytes), std::move(frame)});
    std::push_heap(heap_.begin(), heap_.end(), IsLater);
  }
  // REQUIRES: not empty.
  [[nodiscard]] Frame TakeFirst() {
    std::pop_heap(heap_.begin(), heap_.end(), IsLater);
    Frame frame = std::move(heap_.back().frame);
    heap_.pop_back();
    if (heap_.empty()) order_.OnEmpty();
    return frame;
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }

 private:
  struct Entry {
    SendOrder::Rank rank;
    Frame frame;
  };
  static bool IsLater(const Entry& a, const Entry& b) { return a.rank > b.rank; }

  SendOrder order_;
  std::vector<Entry> heap_;
};

}  // namespace leeway::wire
