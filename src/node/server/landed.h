// Landed: a Push or Init frame, decoded once when its header is here, with one pooled buffer per entry for
// its payload.
//
// It is the lease of the frame's landing: the transport fills the very buffers that the blocks then get.
#pragma once

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

template <typename Message>
struct Landed {
  Message message;
  std::vector<BufferRef> buffers;  // one per entry; null for an entry without bytes
  Landing Places(const std::shared_ptr<Landed>& self) const {
    Landing landing;
    landing.places.reserve(buffers.size());
    for (const BufferRef& buffer : buffers) {
      if (buffer != nullptr) landing.places.push_back(buffer->bytes());
    }
    landing.lease = self;
    return landing;
  }
};

using LandedPush = Landed<wire::Push>;
using LandedInit = Landed<wire::Init>;

// Decodes and checks: every entry for a block that is here has exactly its size, its dtype and no codec. An
// entry for an unknown block lands as well, since its frame may hold others that are known. An error breaks
// the protocol.
[[nodiscard]] Result<std::shared_ptr<LandedPush>> LandPush(std::span<const std::byte> body,
                                                           std::uint64_t payload_bytes, MemberKey from,
                                                           const BlockStore& blocks, BufferPool& pool);
[[nodiscard]] Result<std::shared_ptr<LandedInit>> LandInit(std::span<const std::byte> body,
                                                           std::uint64_t payload_bytes, MemberKey from,
                                                           const BlockStore& blocks, BufferPool& pool);

// An error unless a frame that says it comes from `claimed` came over the connection of `from`.
[[nodiscard]] Status CheckSender(MemberKey claimed, MemberKey from, wire::Kind kind);

}  // namespace leeway
