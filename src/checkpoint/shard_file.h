// The file that one shard writes into a checkpoint: a header, one record per block, a footer.
//
// The writer gives bytes out in the order of the appends; the checker reads them back in pieces. Neither
// touches a file. Thread rule: one thread at a time uses an object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/block_record.h"
#include "checkpoint/checksum.h"
#include "leeway/ids.h"
#include "leeway/pinned.h"
#include "leeway/status.h"

namespace leeway {

inline constexpr std::uint32_t kShardFileFormat = 2;
inline constexpr std::size_t kJobNameBytesMax = 4096;
inline constexpr std::size_t kShardFileFooterBytes = 24;

// Call Header once, then Add for each block, then Footer once. REQUIRES: the caller appends their results in
// that order.
class ShardFileWriter {
 public:
  // REQUIRES: job has at most kJobNameBytesMax bytes.
  ShardFileWriter(const std::string& job, std::uint64_t checkpoint, ShardId shard);
  [[nodiscard]] std::vector<Pinned> Header();
  // Pins the payload without a copy. REQUIRES: as EncodeRecord says of the record.
  [[nodiscard]] std::vector<Pinned> Add(const BlockRecord& record);
  [[nodiscard]] std::vector<Pinned> Footer();

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // The checksum, so far, of the header, of the head of every record (which holds the checksum of the rest of
  // the record) and of the footer. So each payload is read once, not twice, and still every bit counts.
  [[nodiscard]] std::uint64_t checksum() const { return checksum_.value(); }
  [[nodiscard]] const std::vector<RecordPlace>& records() const { return records_; }

 private:
  enum class Stage : std::uint8_t { kNothing, kHeader, kFooter };
  std::vector<Pinned> Give(std::vector<std::byte> bytes);

  std::string job_;
  std::uint64_t checkpoint_;
  ShardId shard_;
  Stage stage_ = Stage::kNothing;
  std::uint64_t bytes_ = 0;
  Checksum checksum_;
  std::vector<RecordPlace> records_;
};

struct ShardFileInfo {
  std::string job;
  std::uint64_t checkpoint = 0;
  ShardId shard{};
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // as ShardFileWriter::checksum after Footer
  std::vector<RecordPlace> records;
};

// Reads `bytes` from `offset` of a file. The checker takes an answer of another size as the end of the file.
using ReadPiece = std::function<Result<std::vector<std::byte>>(std::uint64_t offset, std::uint64_t bytes)>;

// Walks a whole file of `file_bytes`: header, every record with its checksum and body, footer, nothing after
// it. An error names the fault and its offset. Holds one body and 1 MiB of payload at a time.
[[nodiscard]] Result<ShardFileInfo> CheckShardFile(std::uint64_t file_bytes, const ReadPiece& read);
[[nodiscard]] Result<ShardFileInfo> CheckShardFile(std::span<const std::byte> file);

}  // namespace leeway
