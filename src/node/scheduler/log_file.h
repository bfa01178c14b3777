// The file of the scheduler's log: a header, then records. Bytes in and out; touches no file.
//
//   header:  magic u64, format u32, job name length u32, job name, checksum u64 of all before
//   record:  magic u32, body length u32, synced u64, checksum u64 of the 16 bytes before and the body, body
//
// Little-endian; the body is a wire::pb::LogRecord. `synced` is how much of the file was safe from a loss of
// power when the record was written. It tells a torn tail from damage. Bytes after the last sync may be there
// in any part, so an unreadable record there is the end of the log. A record that a later one says was synced
// was announced to a peer, so a log without it is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "leeway/status.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

inline constexpr std::uint32_t kLogFileFormat = 2;
inline constexpr std::size_t kLogJobBytesMax = 4096;

// REQUIRES: job has at most kLogJobBytesMax bytes.
[[nodiscard]] std::vector<std::byte> EncodeLogHeader(const std::string& job);
[[nodiscard]] std::vector<std::byte> EncodeLogRecord(const wire::pb::LogRecord& record, std::uint64_t synced);

struct DecodedLog {
  std::string job;
  std::vector<wire::pb::LogRecord> records;  // at least one; the first is whole, the others are not
  std::uint64_t bytes = 0;                   // up to here everything could be read
  std::string torn;                          // why the rest could not be read; empty: no bytes are left
};

// An error for a file that is no log, and for one that lacks records that were synced. The header and the
// first record were synced before the file got its name, so both must be there.
[[nodiscard]] Result<DecodedLog> DecodeLog(std::span<const std::byte> file);

}  // namespace leeway
