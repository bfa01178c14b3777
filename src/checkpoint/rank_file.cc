#include "checkpoint/rank_file.h"

#include <algorithm>
#include <utility>

#include "base/byte_cursor.h"
#include "base/check.h"
#include "base/errors.h"
#include "checkpoint/checksum.h"
#include "checkpoint/shard_file.h"

namespace leeway {
namespace {

constexpr std::uint64_t kRankFileMagic = 0x4B4E41525359574CULL;  // "LWYSRANK"
constexpr std::size_t kRankHeaderBytes = 48;                     // before the name of the job
constexpr std::size_t kRankChecksumBytes = 8;

std::size_t PaddedToEight(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

Pinned PinOwn(std::vector<std::byte> bytes) {
  const auto own = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {*own, own};
}

}  // namespace

EncodedRankFile EncodeRankFile(const RankFileHead& head, RankBytes state) {
  LW_CHECK(head.job.size() <= kJobNameBytesMax, "a job name of {} bytes", head.job.size());
  LW_CHECK(state->size() <= kRankStateBytesMax, "a state of {} bytes", state->size());
  std::vector<std::byte> header;
  ByteWriter writer(header);
  writer.Write(kRankFileMagic);
  writer.Write(kRankFileFormat);
  writer.Write(head.rank.value());
  writer.Write(head.checkpoint);
  writer.Write(head.iteration.value());
  writer.Write(static_cast<std::uint64_t>(state->size()));
  writer.Write(head.incarnation.value());
  writer.Write(static_cast<std::uint32_t>(head.job.size()));
  const auto job = std::as_bytes(std::span(head.job));
  header.insert(header.end(), job.begin(), job.end());
  header.resize(kRankHeaderBytes + PaddedToEight(head.job.size()));

  EncodedRankFile file;
  file.bytes = header.size() + state->size() + kRankChecksumBytes;
  Checksum checksum;
  checksum.Add(header);
  checksum.Add(*state);
  std::vector<std::byte> sum;
  ByteWriter(sum).Write(checksum.value());
  checksum.Add(sum);
  file.checksum = checksum.value();
  file.pieces.push_back(PinOwn(std::move(header)));
  if (!state->empty()) file.pieces.push_back({*state, state});
  file.pieces.push_back(PinOwn(std::move(sum)));
  return file;
}

Result<RankFile> DecodeRankFile(std::span<const std::byte> file) {
  if (file.size() < kRankHeaderBytes + kRankChecksumBytes) {
    return InvalidArgument("the file ends too early: got {} bytes, wanted {} or more", file.size(),
                           kRankHeaderBytes + kRankChecksumBytes);
  }
  ByteReader reader(file);
  const auto magic = reader.Read<std::uint64_t>();
  const auto format = reader.Read<std::uint32_t>();
  RankFile decoded;
  decoded.head.rank = reader.Read<WorkerId>();
  decoded.head.checkpoint = reader.Read<std::uint64_t>();
  decoded.head.iteration = reader.Read<Iteration>();
  const auto state_bytes = reader.Read<std::uint64_t>();
  decoded.head.incarnation = reader.Read<Incarnation>();
  const auto job_bytes = reader.Read<std::uint32_t>();
  if (magic != kRankFileMagic)
    return InvalidArgument("got magic {:016x}, wanted {:016x}", magic, kRankFileMagic);
  if (format != kRankFileFormat) return InvalidArgument("got format {}, wanted {}", format, kRankFileFormat);
  if (job_bytes > kJobNameBytesMax) {
    return InvalidArgument("got a job name of {} bytes, wanted at most {}", job_bytes, kJobNameBytesMax);
  }
  const std::size_t header_bytes = kRankHeaderBytes + PaddedToEight(job_bytes);
  // Compared without a sum that might overflow.
  if (file.size() < header_bytes + kRankChecksumBytes ||
      file.size() - header_bytes - kRankChecksumBytes != state_bytes) {
    return InvalidArgument("got {} bytes, wanted {} before a state of {}", file.size(),
                           header_bytes + kRankChecksumBytes, state_bytes);
  }
  Checksum checksum;
  checksum.Add(file.first(file.size() - kRankChecksumBytes));
  const auto wanted = ByteReader(file.last(kRankChecksumBytes)).Read<std::uint64_t>();
  if (checksum.value() != wanted) {
    return InvalidArgument("got checksum {}, wanted {}", ChecksumText(checksum.value()),
                           ChecksumText(wanted));
  }
  checksum.Add(file.last(kRankChecksumBytes));
  decoded.checksum = checksum.value();
  const auto job = file.subspan(kRankHeaderBytes, header_bytes - kRankHeaderBytes);
  if (std::any_of(job.begin() + job_bytes, job.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return InvalidArgument("the padding of the job name is not zero");
  }
  decoded.head.job.assign(reinterpret_cast<const char*>(job.data()), job_bytes);
  decoded.state = file.subspan(header_bytes, state_bytes);
  return decoded;
}

}  // namespace leeway
