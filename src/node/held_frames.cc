#include "node/held_frames.h"

#include <algorithm>
#include <utility>

namespace leeway {

bool HeldFrames::Add(ConnectionId to, wire::Kind kind, std::span<const std::byte> body) {
  return Push({to, kind, {body.begin(), body.end()}, false});
}

bool HeldFrames::AddClose(ConnectionId to) { return Push({to, {}, {}, true}); }

bool HeldFrames::Push(Held held) {
  if (bytes_ + Weight(held) > kBytesMax) return false;
  bytes_ += Weight(held);
  held_.push_back({++last_, std::move(held)});
  return true;
}

void HeldFrames::Drop(ConnectionId to) {
  std::erase_if(held_, [&](const Numbered& entry) {
    if (entry.held.to != to) return false;
    bytes_ -= Weight(entry.held);
    return true;
  });
}

bool HeldFrames::Has(ConnectionId to) const {
  return std::ranges::any_of(held_, [to](const Numbered& entry) { return entry.held.to == to; });
}

void HeldFrames::Release(std::uint64_t up_to, const std::function<void(const Held&)>& let_go) {
  while (!held_.empty() && held_.front().number <= up_to) {
    const Held held = std::move(held_.front().held);
    held_.pop_front();
    bytes_ -= Weight(held);
    let_go(held);
  }
}

}  // namespace leeway
