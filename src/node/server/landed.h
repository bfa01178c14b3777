// Landed: a Push, Init or Assign frame, decoded once, before its payload comes. Each entry has one pooled
// buffer for its payload, unless the payload can be read in place.
//
// It is the lease of the frame's landing: the transport fills the very buffers that the blocks then get.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "block/block.h"
#include "block/buffer_pool.h"
#include "leeway/transport.h"
#include "node/server/block_store.h"
#include "wire/kind.h"
#include "wire/messages.h"

namespace leeway {

// Finds one entry after the other in the views of a payload.
class ViewCursor {
 public:
  // An error if the next `bytes` bytes are not there, or lie in two views.
  [[nodiscard]] Result<std::span<const float>> Take(std::span<const std::span<const std::byte>> views,
                                                    std::uint32_t bytes);

 private:
  std::size_t view_ = 0, taken_ = 0;
};

template <typename Message>
struct Landed {
  Message message;
  bool in_place = false;  // the payload is read in place: there are no buffers
  // One per entry; null for an entry without bytes, and for one whose bytes are thrown away: its block is not
  // here, or there is no memory.
  std::vector<BufferRef> buffers;
  std::vector<std::size_t> starved;  // the entries without memory, in order
  std::vector<std::byte> nowhere;    // bytes that are thrown away land here, one piece over the other
  Landing Places(const std::shared_ptr<Landed>& self) {
    Landing landing;
    landing.lease = self;
    landing.in_place = in_place;
    landing.places.reserve(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i] != nullptr) {
        landing.places.push_back(buffers[i]->bytes());
      } else {
        ThrowAway(message.entries[i].payload_bytes, landing);
      }
    }
    return landing;
  }

 private:
  static constexpr std::size_t kNowhereBytes = 64 * 1024;
  void ThrowAway(std::size_t bytes, Landing& landing) {
    if (bytes > 0) nowhere.resize(kNowhereBytes);
    for (std::size_t n = 0; bytes > 0; bytes -= n) {
      n = std::min(bytes, kNowhereBytes);
      landing.places.push_back(std::span(nowhere).first(n));
    }
  }
};

// Deals the payload of a frame out to its entries, in order: as buffers, or as parts of the landing's views.
template <typename Message>
class Dealer {
 public:
  // Borrows both.
  Dealer(Landed<Message>& landed, const Landing& landing) : landed_(landed), landing_(landing) {}
  // The values of the next entry, of so many bytes; empty if they were thrown away. An error if they do not
  // lie in one piece.
  [[nodiscard]] Result<Gradient> Next(std::uint32_t bytes) {
    if (!landed_.in_place) return Gradient(std::move(landed_.buffers[next_++]));
    LW_ASSIGN_OR_RETURN(const std::span<const float> values, cursor_.Take(landing_.views, bytes));
    return Gradient(values, landing_.witness);
  }

  // Whether there was no memory for the entry that Next gave last.
  [[nodiscard]] bool Starved() const {
    return !landed_.in_place && std::ranges::binary_search(landed_.starved, next_ - 1);
  }

 private:
  Landed<Message>& landed_;
  const Landing& landing_;
  std::size_t next_ = 0;
  ViewCursor cursor_;
};

using LandedPush = Landed<wire::Push>;

// Keeps landed pushes after use, for the memory of their lists: a push that is read in place allocates
// nothing.
class SparePushes {
 public:
  static constexpr std::size_t kMost = 64;  // more seldom land at the same time
  [[nodiscard]] std::shared_ptr<LandedPush> Take();
  // Keeps it, unless somebody else still holds it or enough are kept.
  void Return(std::shared_ptr<LandedPush> landed);
  [[nodiscard]] std::size_t size() const { return spare_.size(); }

 private:
  std::vector<std::shared_ptr<LandedPush>> spare_;  // shared: each is the lease of a landing, in its turn
};

// Decodes a frame into `out` and checks it: every entry for a block that is here has the block's size.
// Bytes for a block that is not here are thrown away, whatever their size: the frame may
// hold entries for blocks that are here. So are bytes that find no memory. After an error the worker has
// broken the protocol. Instantiated for Push, Init and Assign.
template <typename Message>
[[nodiscard]] Status DecodeLanded(const FrameHead& head, std::span<const std::byte> body, MemberKey from,
                                  const BlockStore& blocks, BufferPool& pool, Landed<Message>& out);

// An error unless a frame that says it comes from `claimed` came over the connection of `from`.
[[nodiscard]] Status CheckSender(MemberKey claimed, MemberKey from, wire::Kind kind);

}  // namespace leeway
