#include "checkpoint/shard_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/byte_cursor.h"
#include "base/check.h"
#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::uint64_t kFileMagic = 0x445241485359574CULL;  // "LWYSHARD"
constexpr std::uint32_t kFooterMagic = 0x5446574C;           // "LWFT"
constexpr std::size_t kHeaderFixedBytes = 28;                // before the name of the job
constexpr std::size_t kChecksumBytes = 8;
constexpr std::uint64_t kPieceBytes = 1U << 20;
static_assert(kShardFileFooterBytes == kRecordHeadBytes, "the walk reads one where the other may be");

std::size_t PaddedJobBytes(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

}  // namespace

ShardFileWriter::ShardFileWriter(const std::string& job, std::uint64_t checkpoint, ShardId shard)
    : job_(job), checkpoint_(checkpoint), shard_(shard) {
  LW_CHECK(job.size() <= kJobNameBytesMax, "a job name of {} bytes", job.size());
}

std::vector<Pinned> ShardFileWriter::Give(std::vector<std::byte> bytes) {
  // Shared: the storage holds the bytes for as long as it needs them.
  const auto own = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  checksum_.Add(*own);
  bytes_ += own->size();
  return {{*own, own}};
}

std::vector<Pinned> ShardFileWriter::Header() {
  LW_CHECK(stage_ == Stage::kNothing);
  stage_ = Stage::kHeader;
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.Write(kFileMagic);
  writer.Write(kShardFileFormat);
  writer.Write(shard_.value());
  writer.Write(checkpoint_);
  writer.Write(static_cast<std::uint32_t>(job_.size()));
  const auto job = std::as_bytes(std::span(job_));
  bytes.insert(bytes.end(), job.begin(), job.end());
  bytes.resize(kHeaderFixedBytes + PaddedJobBytes(job_.size()));
  writer.Write(ChecksumOf(bytes));
  return Give(std::move(bytes));
}

std::vector<Pinned> ShardFileWriter::Add(const BlockRecord& record) {
  LW_CHECK(stage_ == Stage::kHeader);
  EncodedRecord encoded = EncodeRecord(record);
  const std::uint64_t bytes = kRecordHeadBytes + encoded.head.body_bytes + encoded.head.payload_bytes;
  records_.push_back({.block = record.id.block,
                      .offset = bytes_,
                      .bytes = bytes,
                      .v_train = record.state.progress.v_train,
                      .term = record.id.term,
                      .checksum = encoded.head.checksum});
  checksum_.Add(encoded.pieces.front().bytes.first(kRecordHeadBytes));
  bytes_ += bytes;
  return std::move(encoded.pieces);
}

std::vector<Pinned> ShardFileWriter::Footer() {
  LW_CHECK(stage_ == Stage::kHeader);
  stage_ = Stage::kFooter;
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.Write(kFooterMagic);
  writer.Write(std::uint32_t{0});
  writer.Write(static_cast<std::uint64_t>(records_.size()));
  std::vector<Pinned> given = Give(std::move(bytes));
  std::vector<std::byte> sum;
  ByteWriter(sum).Write(checksum_.value());
  given.push_back(Give(std::move(sum)).front());
  return given;
}

namespace {

// One walk over one file.
class Walk {
 public:
  Walk(std::uint64_t file_bytes, const ReadPiece& read) : read_(read) { info_.bytes = file_bytes; }

  Result<ShardFileInfo> Run() {
    if (Status status = Header(); !status.ok()) return status.WithContext("header at offset 0");
    for (;;) {
      const std::uint64_t begin = at_;
      Result<std::vector<std::byte>> head = Read(kRecordHeadBytes);
      if (!head.ok()) return head.status().WithContext(fmt::format("record or footer at offset {}", begin));
      std::uint32_t magic = 0;
      std::memcpy(&magic, head->data(), sizeof magic);
      if (magic == kFooterMagic) {
        if (Status status = Footer(*head); !status.ok()) {
          return status.WithContext(fmt::format("footer at offset {}", begin));
        }
        return std::move(info_);
      }
      if (Status status = Record(begin, *head); !status.ok()) {
        return status.WithContext(fmt::format("record at offset {}", begin));
      }
    }
  }

 private:
  std::uint64_t left() const { return info_.bytes - at_; }

  Result<std::vector<std::byte>> Read(std::uint64_t bytes) {
    if (bytes > left())
      return InvalidArgument("the file ends too early: {} bytes left, wanted {}", left(), bytes);
    LW_ASSIGN_OR_RETURN(std::vector<std::byte> piece, read_(at_, bytes));
    if (piece.size() != bytes) {
      return InvalidArgument("the file ends too early: got {} bytes at offset {}, wanted {}", piece.size(),
                             at_, bytes);
    }
    at_ += bytes;
    return piece;
  }

  Status Header() {
    LW_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, Read(kHeaderFixedBytes));
    ByteReader reader(bytes);
    const auto magic = reader.Read<std::uint64_t>();
    const auto format = reader.Read<std::uint32_t>();
    info_.shard = reader.Read<ShardId>();
    info_.checkpoint = reader.Read<std::uint64_t>();
    const auto job_bytes = reader.Read<std::uint32_t>();
    if (magic != kFileMagic) return InvalidArgument("got magic {:016x}, wanted {:016x}", magic, kFileMagic);
    if (format != kShardFileFormat)
      return InvalidArgument("got format {}, wanted {}", format, kShardFileFormat);
    if (job_bytes > kJobNameBytesMax) {
      return InvalidArgument("got a job name of {} bytes, wanted at most {}", job_bytes, kJobNameBytesMax);
    }
    LW_ASSIGN_OR_RETURN(const std::vector<std::byte> job, Read(PaddedJobBytes(job_bytes)));
    bytes.insert(bytes.end(), job.begin(), job.end());
    LW_ASSIGN_OR_RETURN(const std::vector<std::byte> sum, Read(kChecksumBytes));
    LW_RETURN_IF_ERROR(Compare(ChecksumOf(bytes), sum));
    if (std::any_of(job.begin() + job_bytes, job.end(), [](std::byte b) { return b != std::byte{0}; })) {
      return InvalidArgument("the padding of the job name is not zero");
    }
    info_.job.assign(reinterpret_cast<const char*>(job.data()), job_bytes);
    checksum_.Add(bytes);
    checksum_.Add(sum);
    return Status::Ok();
  }

  Status Record(std::uint64_t begin, std::span<const std::byte> bytes) {
    LW_ASSIGN_OR_RETURN(const RecordHead head, DecodeRecordHead(bytes));
    checksum_.Add(bytes);
    Checksum own;
    own.Add(bytes.first(kRecordHeadBytes - kChecksumBytes));
    LW_ASSIGN_OR_RETURN(const std::vector<std::byte> body, Read(head.body_bytes));
    own.Add(body);
    if (head.payload_bytes > left()) {
      return InvalidArgument("the file ends too early: {} bytes left, wanted a payload of {}", left(),
                             head.payload_bytes);
    }
    for (std::uint64_t rest = head.payload_bytes; rest > 0;) {
      LW_ASSIGN_OR_RETURN(const std::vector<std::byte> piece, Read(std::min(rest, kPieceBytes)));
      own.Add(piece);
      rest -= piece.size();
    }
    LW_RETURN_IF_ERROR(Compare(own.value(), bytes.last(kChecksumBytes)));
    LW_ASSIGN_OR_RETURN(const BlockRecord record, DecodeRecordBody(head, body));
    if (!blocks_.insert(record.id.block).second) {
      return InvalidArgument("block {} is in the file twice", record.id.block.value());
    }
    info_.records.push_back({.block = record.id.block,
                             .offset = begin,
                             .bytes = at_ - begin,
                             .v_train = record.state.progress.v_train,
                             .term = record.id.term,
                             .checksum = head.checksum});
    return Status::Ok();
  }

  Status Footer(std::span<const std::byte> bytes) {
    ByteReader reader(bytes.subspan(4));
    const auto zero = reader.Read<std::uint32_t>();
    const auto records = reader.Read<std::uint64_t>();
    checksum_.Add(bytes.first(bytes.size() - kChecksumBytes));
    LW_RETURN_IF_ERROR(Compare(checksum_.value(), bytes.last(kChecksumBytes)));
    checksum_.Add(bytes.last(kChecksumBytes));
    if (zero != 0) return InvalidArgument("got {} where 0 was wanted", zero);
    if (records != info_.records.size()) {
      return InvalidArgument("got {} records, wanted {}", info_.records.size(), records);
    }
    if (left() != 0) return InvalidArgument("{} bytes are left over after it", left());
    info_.checksum = checksum_.value();
    return Status::Ok();
  }

  static Status Compare(std::uint64_t got, std::span<const std::byte> wanted_bytes) {
    const auto wanted = ByteReader(wanted_bytes).Read<std::uint64_t>();
    if (got == wanted) return Status::Ok();
    return InvalidArgument("got checksum {}, wanted {}", ChecksumText(got), ChecksumText(wanted));
  }

  const ReadPiece& read_;
  ShardFileInfo info_;
  std::uint64_t at_ = 0;
  Checksum checksum_;
  std::unordered_set<BlockId> blocks_;
};

}  // namespace

Result<ShardFileInfo> CheckShardFile(std::uint64_t file_bytes, const ReadPiece& read) {
  return Walk(file_bytes, read).Run();
}

Result<ShardFileInfo> CheckShardFile(std::span<const std::byte> file) {
  return CheckShardFile(file.size(), [file](std::uint64_t offset, std::uint64_t bytes) {
    const auto piece = file.subspan(offset, bytes);
    return std::vector<std::byte>(piece.begin(), piece.end());
  });
}

}  // namespace leeway
