// Any bytes as a shard file, as a record under a right checksum, or as the file of a rank: no crash, and what
// is accepted encodes to the same bytes.
//
// Input: a byte that picks (0: a shard file as it is; 2: the file of a rank as it is; 3: the same, and its
// checksum is put right first; else a record whose checksum is put right first), then the bytes.
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "checkpoint/checksum.h"
#include "checkpoint/rank_file.h"
#include "checkpoint/shard_file.h"
#include "fuzz_target.h"

namespace leeway {
namespace {

using Bytes = std::vector<std::byte>;

// A decoder that asks for more than the bytes hold has believed a length.
TakeBuffer Bounded(std::size_t bytes) {
  return [bytes](std::size_t elements, Arena::Use) {
    LW_CHECK(elements <= bytes / sizeof(float), "a buffer of {} floats from {} bytes", elements, bytes);
    return std::make_shared<Buffer>(elements);
  };
}

void CheckSame(const BlockRecord& record, std::span<const std::byte> bytes) {
  Bytes again;
  for (const Pinned& piece : EncodeRecord(record).pieces) {
    again.insert(again.end(), piece.bytes.begin(), piece.bytes.end());
  }
  LW_CHECK(again.size() == bytes.size() && std::memcmp(again.data(), bytes.data(), bytes.size()) == 0);
}

void TryFile(std::span<const std::byte> bytes) {
  const Result<ShardFileInfo> info = CheckShardFile(bytes);
  if (!info.ok()) {
    LW_CHECK(!info.status().message().empty());
    return;
  }
  for (const RecordPlace& place : info->records) {
    const auto own = bytes.subspan(place.offset, place.bytes);
    const Result<BlockRecord> record = DecodeRecord(place, own, Bounded(own.size()));
    LW_CHECK(record.ok(), "{}", record.status().ToString());
    CheckSame(*record, own);
  }
}

void TryRecord(Bytes bytes) {
  if (bytes.size() >= kRecordHeadBytes) {
    Checksum checksum;
    checksum.Add(std::span(bytes).first(16));
    checksum.Add(std::span(bytes).subspan(kRecordHeadBytes));
    const std::uint64_t value = checksum.value();
    std::memcpy(bytes.data() + 16, &value, sizeof value);
  }
  const Result<BlockRecord> record = DecodeRecord(bytes, Bounded(bytes.size()));
  if (record.ok()) return CheckSame(*record, bytes);
  LW_CHECK(!record.status().message().empty());
}

void TryRankFile(Bytes bytes, bool mend) {
  if (mend && bytes.size() >= sizeof(std::uint64_t)) {
    const std::size_t end = bytes.size() - sizeof(std::uint64_t);
    const std::uint64_t value = ChecksumOf(std::span(bytes).first(end));
    std::memcpy(bytes.data() + end, &value, sizeof value);
  }
  const Result<RankFile> file = DecodeRankFile(bytes);
  if (!file.ok()) {
    LW_CHECK(!file.status().message().empty());
    return;
  }
  LW_CHECK(file->state.size() <= bytes.size());
  const auto state = std::make_shared<const Bytes>(file->state.begin(), file->state.end());
  const EncodedRankFile encoded = EncodeRankFile(file->head, state);
  Bytes again;
  for (const Pinned& piece : encoded.pieces) {
    again.insert(again.end(), piece.bytes.begin(), piece.bytes.end());
  }
  LW_CHECK(again == bytes && encoded.checksum == file->checksum);
}

}  // namespace
}  // namespace leeway

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] == 0) {
    leeway::TryFile(bytes);
  } else if (data[0] == 2 || data[0] == 3) {
    leeway::TryRankFile({bytes.begin(), bytes.end()}, data[0] == 3);
  } else {
    leeway::TryRecord({bytes.begin(), bytes.end()});
  }
  return 0;
}
