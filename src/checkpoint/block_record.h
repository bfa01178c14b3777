// BlockRecord: one block of a checkpoint, and its bytes: a head of kRecordHeadBytes, a body (identity and all
// small state), the payload (values, optimizer slots, gradients of open sums, as raw floats).
//
// Pure functions on bytes; docs/checkpoint-format.md has the layout. This file reads and writes no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "block/block_state.h"
#include "block/buffer_pool.h"
#include "leeway/arena.h"
#include "leeway/ids.h"
#include "leeway/pinned.h"
#include "leeway/status.h"

namespace leeway {

struct BlockIdentity {
  BlockId block{};
  TableId table{};
  std::uint64_t offset = 0, elements = 0;  // within its table
  Term term{};
  friend bool operator==(const BlockIdentity&, const BlockIdentity&) = default;
};

struct BlockRecord {
  BlockIdentity id;
  BlockState state;
};

// The place of a record in its file, and its expected identity.
struct RecordPlace {
  BlockId block{};
  std::uint64_t offset = 0, bytes = 0;
  Iteration v_train{};
  Term term{};
  std::uint64_t checksum = 0;  // the record's own: tells it from a record of another checkpoint
  friend bool operator==(const RecordPlace&, const RecordPlace&) = default;
};

inline constexpr std::size_t kRecordHeadBytes = 24;
// A reader reads a body as a whole before it trusts any of it.
inline constexpr std::uint32_t kRecordBodyBytesMax = 64U << 20;

struct RecordHead {
  std::uint32_t magic = 0;
  std::uint32_t body_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t checksum = 0;  // of the three fields above, the body and the payload
};

struct EncodedRecord {
  RecordHead head;
  std::vector<Pinned> pieces;  // the head and the body in one, then the payload, pinned and not copied
};

// REQUIRES: values and every slot and gradient have id.elements floats. Values are present unless version is
// 0; then slots are absent too.
[[nodiscard]] EncodedRecord EncodeRecord(const BlockRecord& record);

// Decodes a record's head before its payload: magic and lengths, and a body that fits them. Checks no
// checksum. Buffers of the state are null. REQUIRES: head has kRecordHeadBytes.
[[nodiscard]] Result<RecordHead> DecodeRecordHead(std::span<const std::byte> head);
[[nodiscard]] Result<BlockRecord> DecodeRecordBody(const RecordHead& head, std::span<const std::byte> body);

// A BufferPool's Take, which returns null if memory is short. Values are kSent, all other buffers kKept.
using TakeBuffer = std::function<BufferRef(std::size_t elements, Arena::Use use)>;

// Checks and decodes the bytes of one record. Calls `take` only after all checks.
[[nodiscard]] Result<BlockRecord> DecodeRecord(std::span<const std::byte> bytes, const TakeBuffer& take);
// Also checks that it is the record that the manifest names.
[[nodiscard]] Result<BlockRecord> DecodeRecord(const RecordPlace& place, std::span<const std::byte> bytes,
                                               const TakeBuffer& take);

}  // namespace leeway
