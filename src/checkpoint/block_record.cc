#include "checkpoint/block_record.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>

#include "base/check.h"
#include "base/errors.h"
#include "checkpoint/body_layout.h"
#include "checkpoint/checksum.h"

namespace leeway {
namespace {

// A tool may read a record without the head of its file, so the record's own magic names its layout.
constexpr std::uint32_t kRecordMagic = 0x3242574C;  // "LWB2"
constexpr std::size_t kChecksumAt = 16;             // in the head: it covers the bytes before it
// A block is at most block_bytes long, which has 32 bits. The limit keeps every product below from
// overflowing.
constexpr std::uint64_t kElementsMax = std::uint64_t{1} << 30;

// Calls `visit` with a reference to each buffer of the state, so that it can fill them, in the order of the
// payload.
template <typename State, typename Visit>
void EachBuffer(State& state, Visit visit) {
  if (state.version != Version(0)) visit(state.values);
  for (auto& slot : state.slots) visit(slot);
  for (auto& sum : state.sums) {
    for (auto& contribution : sum.contributions) visit(contribution.gradient);
  }
}

std::uint64_t BufferCount(const BlockState& state) {
  std::uint64_t count = 0;
  EachBuffer(state, [&count](const ConstBufferRef&) { ++count; });
  return count;
}

std::array<std::byte, kRecordHeadBytes> EncodeHead(const RecordHead& head) {
  std::array<std::byte, kRecordHeadBytes> bytes{};
  std::memcpy(bytes.data(), &head.magic, 4);
  std::memcpy(bytes.data() + 4, &head.body_bytes, 4);
  std::memcpy(bytes.data() + 8, &head.payload_bytes, 8);
  std::memcpy(bytes.data() + kChecksumAt, &head.checksum, 8);
  return bytes;
}

// Checks that `key` gives strictly ascending values: a duplicate entry would count twice.
template <typename List, typename Key>
Status Ascending(const char* what, const List& list, Key key) {
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (!(key(list[i - 1]) < key(list[i]))) {
      return InvalidArgument("{}: entry {} is not above the one before it", what, i);
    }
  }
  return Status::Ok();
}

Status CheckState(const BlockState& state) {
  if (state.version == Version(0) && !state.slots.empty()) {
    return InvalidArgument("slots: got {} of a block without values, wanted none", state.slots.size());
  }
  LW_RETURN_IF_ERROR(
      Ascending("lives", state.progress.lives, [](const LifeState& l) { return l.key.worker; }));
  LW_RETURN_IF_ERROR(Ascending("ledger", state.ledger, [](const LedgerState& l) { return l.member.worker; }));
  LW_RETURN_IF_ERROR(Ascending("sums", state.sums, [](const OpenSumState& s) { return s.iteration; }));
  for (const OpenSumState& sum : state.sums) {
    LW_RETURN_IF_ERROR(Ascending("contributions", sum.contributions,
                                 [](const ContributionState& c) { return std::tuple(c.from, c.seq); }));
  }
  return Status::Ok();
}

}  // namespace

EncodedRecord EncodeRecord(const BlockRecord& record) {
  const BlockState& state = record.state;
  LW_CHECK(record.id.elements <= kElementsMax, "block {} has {} elements", record.id.block.value(),
           record.id.elements);
  LW_CHECK(state.version != Version(0) || state.slots.empty());
  // Shared: the storage holds the bytes for as long as it needs them.
  const auto front = std::make_shared<std::vector<std::byte>>(kRecordHeadBytes);
  body::Writer writer(*front);
  body::Fields(writer, record);
  front->resize((front->size() + 3) / 4 * 4);
  LW_CHECK(front->size() - kRecordHeadBytes <= kRecordBodyBytesMax, "block {}: a body of {} bytes",
           record.id.block.value(), front->size());

  EncodedRecord encoded;
  encoded.pieces.push_back({*front, front});
  EachBuffer(state, [&](const ConstBufferRef& buffer) {
    LW_CHECK(buffer != nullptr && buffer->floats().size() == record.id.elements,
             "block {}: a buffer of {}, wanted {}", record.id.block.value(),
             buffer == nullptr ? 0 : buffer->floats().size(), record.id.elements);
    if (buffer->bytes().empty()) return;
    encoded.pieces.push_back({buffer->bytes(), buffer});
  });

  encoded.head = {kRecordMagic, static_cast<std::uint32_t>(front->size() - kRecordHeadBytes),
                  BufferCount(state) * record.id.elements * sizeof(float), 0};
  const auto unsigned_head = EncodeHead(encoded.head);
  Checksum checksum;
  checksum.Add(std::span(unsigned_head).first(kChecksumAt));
  checksum.Add(std::span(*front).subspan(kRecordHeadBytes));
  for (const Pinned& piece : std::span(encoded.pieces).subspan(1)) checksum.Add(piece.bytes);
  encoded.head.checksum = checksum.value();
  std::ranges::copy(EncodeHead(encoded.head), front->begin());
  return encoded;
}

Result<RecordHead> DecodeRecordHead(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  RecordHead head;
  head.magic = reader.Read<std::uint32_t>();
  head.body_bytes = reader.Read<std::uint32_t>();
  head.payload_bytes = reader.Read<std::uint64_t>();
  head.checksum = reader.Read<std::uint64_t>();
  if (!reader.ok())
    return InvalidArgument("a record: got {} bytes, wanted {}", bytes.size(), kRecordHeadBytes);
  if (head.magic != kRecordMagic) {
    return InvalidArgument("a record: got magic {:08x}, wanted {:08x}", head.magic, kRecordMagic);
  }
  if (head.body_bytes > kRecordBodyBytesMax || head.body_bytes % 4 != 0) {
    return InvalidArgument("a record: got a body of {} bytes, wanted a multiple of 4 up to {}",
                           head.body_bytes, kRecordBodyBytesMax);
  }
  return head;
}

Result<BlockRecord> DecodeRecordBody(const RecordHead& head, std::span<const std::byte> body) {
  BlockRecord record;
  body::Reader reader(body);
  body::Fields(reader, record);
  const std::string who = fmt::format("block {}", record.id.block.value());
  if (const Status status = reader.Finish(); !status.ok()) return status.WithContext(who);
  if (const Status status = CheckState(record.state); !status.ok()) return status.WithContext(who);
  if (record.id.elements > kElementsMax) {
    return InvalidArgument("{}: got {} elements, wanted at most {}", who, record.id.elements, kElementsMax);
  }
  const std::uint64_t wanted = BufferCount(record.state) * record.id.elements * sizeof(float);
  if (head.payload_bytes != wanted) {
    return InvalidArgument("{}: got a payload of {} bytes, wanted {}", who, head.payload_bytes, wanted);
  }
  return record;
}

Result<BlockRecord> DecodeRecord(std::span<const std::byte> bytes, const TakeBuffer& take) {
  LW_ASSIGN_OR_RETURN(const RecordHead head, DecodeRecordHead(bytes));
  const std::uint64_t rest = bytes.size() - kRecordHeadBytes;
  if (head.body_bytes > rest || head.payload_bytes != rest - head.body_bytes) {
    return InvalidArgument("a record: got {} bytes, wanted {} + {} + {}", bytes.size(), kRecordHeadBytes,
                           head.body_bytes, head.payload_bytes);
  }
  Checksum checksum;
  checksum.Add(bytes.first(kChecksumAt));
  checksum.Add(bytes.subspan(kRecordHeadBytes));
  if (checksum.value() != head.checksum) {
    return InvalidArgument("a record: got checksum {}, wanted {}", ChecksumText(checksum.value()),
                           ChecksumText(head.checksum));
  }
  LW_ASSIGN_OR_RETURN(BlockRecord record,
                      DecodeRecordBody(head, bytes.subspan(kRecordHeadBytes, head.body_bytes)));
  std::span<const std::byte> payload = bytes.subspan(kRecordHeadBytes + head.body_bytes);
  bool memory = true;
  EachBuffer(record.state, [&](ConstBufferRef& buffer) {
    const bool sent = &buffer == &record.state.values;
    BufferRef own = take(record.id.elements, sent ? Arena::Use::kSent : Arena::Use::kKept);
    memory = memory && own != nullptr;
    if (!memory) return;
    const std::span<std::byte> place = own->bytes();
    std::copy_n(payload.begin(), place.size(), place.begin());
    payload = payload.subspan(place.size());
    buffer = std::move(own);
  });
  if (!memory) {
    return ResourceExhausted(
        "block {}: no memory for its record of {} bytes: give the server more memory, or start more servers",
        record.id.block.value(), bytes.size());
  }
  return record;
}

Result<BlockRecord> DecodeRecord(const RecordPlace& place, std::span<const std::byte> bytes,
                                 const TakeBuffer& take) {
  const std::string who = fmt::format("block {} at offset {}", place.block.value(), place.offset);
  if (bytes.size() != place.bytes) {
    return InvalidArgument("{}: got {} bytes, wanted {}", who, bytes.size(), place.bytes);
  }
  const Result<RecordHead> head = DecodeRecordHead(bytes);
  if (!head.ok()) return head.status().WithContext(who);
  if (head->checksum != place.checksum) {
    return InvalidArgument("{}: got a record with checksum {}, wanted that of the manifest, {}", who,
                           ChecksumText(head->checksum), ChecksumText(place.checksum));
  }
  Result<BlockRecord> record = DecodeRecord(bytes, take);
  if (!record.ok()) return record.status().WithContext(who);
  if (record->id.block != place.block || record->id.term != place.term ||
      record->state.progress.v_train != place.v_train) {
    return InvalidArgument("{}: got block {}, term {}, v_train {}, wanted term {}, v_train {}", who,
                           record->id.block.value(), record->id.term.value(),
                           record->state.progress.v_train.value(), place.term.value(), place.v_train.value());
  }
  return record;
}

}  // namespace leeway
