#include "node/scheduler/log_file.h"

#include <cstring>
#include <optional>

#include "base/byte_cursor.h"
#include "base/check.h"
#include "base/errors.h"
#include "checkpoint/checksum.h"
#include "node/control_frame.h"

namespace leeway {
namespace {

constexpr std::uint64_t kLogMagic = 0x474F4C485359574CULL;  // "LWYSHLOG"
constexpr std::uint32_t kRecordMagic = 0x524C574C;          // "LWLR"
constexpr std::size_t kLogHeaderFixedBytes = 16;            // before the name of the job
constexpr std::size_t kLogRecordHeadBytes = 24;
constexpr std::size_t kLogChecksumBytes = 8;

struct LogRecordHead {
  std::uint32_t magic = 0;
  std::uint32_t body_bytes = 0;
  std::uint64_t synced = 0;
  std::uint64_t checksum = 0;
};

LogRecordHead ReadHead(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  LogRecordHead head;
  head.magic = reader.Read<std::uint32_t>();
  head.body_bytes = reader.Read<std::uint32_t>();
  head.synced = reader.Read<std::uint64_t>();
  head.checksum = reader.Read<std::uint64_t>();
  return head;
}

std::uint64_t RecordChecksum(std::span<const std::byte> head, std::span<const std::byte> body) {
  Checksum checksum;
  checksum.Add(head.first(kLogRecordHeadBytes - kLogChecksumBytes));
  checksum.Add(body);
  return checksum.value();
}

// The record at `at`; an error says why it cannot be read. Does not look at its body.
Result<LogRecordHead> FindRecord(std::span<const std::byte> file, std::uint64_t at) {
  const auto rest = file.subspan(at);
  if (rest.size() < kLogRecordHeadBytes) {
    return InvalidArgument("{} bytes are left, wanted {} for the head of a record", rest.size(),
                           kLogRecordHeadBytes);
  }
  const LogRecordHead head = ReadHead(rest);
  if (head.magic != kRecordMagic) {
    return InvalidArgument("got magic {:08x}, wanted {:08x}", head.magic, kRecordMagic);
  }
  if (head.body_bytes > rest.size() - kLogRecordHeadBytes) {
    return InvalidArgument("{} bytes are left, wanted {} for the body of a record",
                           rest.size() - kLogRecordHeadBytes, head.body_bytes);
  }
  const std::uint64_t got = RecordChecksum(rest, rest.subspan(kLogRecordHeadBytes, head.body_bytes));
  if (got != head.checksum) {
    return InvalidArgument("got checksum {}, wanted {}", ChecksumText(got), ChecksumText(head.checksum));
  }
  if (head.synced > at) {
    return InvalidArgument("it says that {} bytes before it were safe, wanted at most {}", head.synced, at);
  }
  return head;
}

// How much of the file was safe, by the word of any record behind `at`.
std::uint64_t SyncedBehind(std::span<const std::byte> file, std::uint64_t at) {
  std::uint64_t synced = 0;
  while (at < file.size()) {
    std::uint32_t magic = 0;
    if (file.size() - at >= sizeof magic) std::memcpy(&magic, file.data() + at, sizeof magic);
    const auto head = magic == kRecordMagic ? FindRecord(file, at) : Result<LogRecordHead>(Status::Ok());
    if (!head.ok()) {
      ++at;
      continue;
    }
    synced = std::max(synced, head->synced);
    at += kLogRecordHeadBytes + head->body_bytes;
  }
  return synced;
}

Result<std::uint64_t> DecodeHeader(std::span<const std::byte> file, std::string& job) {
  ByteReader reader(file);
  const auto magic = reader.Read<std::uint64_t>();
  const auto format = reader.Read<std::uint32_t>();
  const auto job_bytes = reader.Read<std::uint32_t>();
  if (!reader.ok())
    return InvalidArgument("got {} bytes, wanted at least {}", file.size(), kLogHeaderFixedBytes);
  if (magic != kLogMagic) return InvalidArgument("got magic {:016x}, wanted {:016x}", magic, kLogMagic);
  if (format != kLogFileFormat) return InvalidArgument("got format {}, wanted {}", format, kLogFileFormat);
  if (job_bytes > kLogJobBytesMax || job_bytes + kLogChecksumBytes > reader.left()) {
    return InvalidArgument("got a job name of {} bytes, with {} left; wanted at most {}", job_bytes,
                           reader.left(), kLogJobBytesMax);
  }
  const std::size_t end = kLogHeaderFixedBytes + job_bytes;
  const auto wanted = ByteReader(file.subspan(end)).Read<std::uint64_t>();
  if (const std::uint64_t got = ChecksumOf(file.first(end)); got != wanted) {
    return InvalidArgument("got checksum {}, wanted {}", ChecksumText(got), ChecksumText(wanted));
  }
  job.assign(reinterpret_cast<const char*>(file.data()) + kLogHeaderFixedBytes, job_bytes);
  return end + kLogChecksumBytes;
}

}  // namespace

std::vector<std::byte> EncodeLogHeader(const std::string& job) {
  LW_CHECK(job.size() <= kLogJobBytesMax, "a job name of {} bytes", job.size());
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.Write(kLogMagic);
  writer.Write(kLogFileFormat);
  writer.Write(static_cast<std::uint32_t>(job.size()));
  const auto name = std::as_bytes(std::span(job));
  bytes.insert(bytes.end(), name.begin(), name.end());
  writer.Write(ChecksumOf(bytes));
  return bytes;
}

std::vector<std::byte> EncodeLogRecord(const wire::pb::LogRecord& record, std::uint64_t synced) {
  const std::vector<std::byte> body = ControlBody(record);
  std::vector<std::byte> bytes;
  bytes.reserve(kLogRecordHeadBytes + body.size());
  ByteWriter writer(bytes);
  writer.Write(kRecordMagic);
  writer.Write(static_cast<std::uint32_t>(body.size()));
  writer.Write(synced);
  bytes.resize(kLogRecordHeadBytes);
  const std::uint64_t checksum = RecordChecksum(bytes, body);
  std::memcpy(bytes.data() + kLogRecordHeadBytes - kLogChecksumBytes, &checksum, sizeof checksum);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

Result<DecodedLog> DecodeLog(std::span<const std::byte> file) {
  DecodedLog log;
  const Result<std::uint64_t> begin = DecodeHeader(file, log.job);
  if (!begin.ok()) return begin.status().WithContext("its header");
  log.bytes = *begin;
  while (log.bytes < file.size()) {
    const std::string where = fmt::format("its record {} at offset {}", log.records.size(), log.bytes);
    const Result<LogRecordHead> head = FindRecord(file, log.bytes);
    if (!head.ok()) {
      if (log.records.empty()) return head.status().WithContext(where);
      const std::uint64_t synced = SyncedBehind(file, log.bytes + 1);
      if (synced > log.bytes) {
        return head.status().WithContext(fmt::format(
            "{}, which is not the end of it: up to {} it had been synced and announced", where, synced));
      }
      log.torn = head.status().WithContext(where).message();
      break;
    }
    const auto body = file.subspan(log.bytes + kLogRecordHeadBytes, head->body_bytes);
    wire::pb::LogRecord& record = log.records.emplace_back();
    if (!record.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
      return InvalidArgument("{}: its body of {} bytes cannot be decoded", where, body.size());
    }
    if (record.whole() != (log.records.size() == 1)) {
      return InvalidArgument("{}: got a record that is {}, wanted the first to be whole and no other", where,
                             record.whole() ? "whole" : "not whole");
    }
    log.bytes += kLogRecordHeadBytes + head->body_bytes;
  }
  if (log.records.empty()) return InvalidArgument("it has no record, wanted one that is whole");
  return log;
}

}  // namespace leeway
