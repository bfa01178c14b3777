// The file that one worker writes into a checkpoint: a header, the client's own bytes, a checksum.
//
// Pure functions on bytes; docs/checkpoint-format.md has the layout. Only the client knows the meaning of its
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leeway/ids.h"
#include "leeway/pinned.h"
#include "leeway/status.h"

namespace leeway {

inline constexpr std::uint32_t kRankFileFormat = 1;
// A client holds its state in memory, and so does its reader.
inline constexpr std::uint64_t kRankStateBytesMax = 1ULL << 32;

using RankBytes = std::shared_ptr<const std::vector<std::byte>>;  // shared with the storage that writes it

struct RankFileHead {
  std::string job;
  std::uint64_t checkpoint = 0;
  WorkerId rank{};
  Incarnation incarnation{};
  Iteration iteration{};  // the iteration that the worker is about to begin
  friend bool operator==(const RankFileHead&, const RankFileHead&) = default;
};

struct EncodedRankFile {
  std::vector<Pinned> pieces;  // `state` is pinned and not copied
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // of the whole file, as the manifest has it
};

// REQUIRES: the job has at most kJobNameBytesMax bytes, the state at most kRankStateBytesMax.
[[nodiscard]] EncodedRankFile EncodeRankFile(const RankFileHead& head, RankBytes state);

struct RankFile {
  RankFileHead head;
  std::span<const std::byte> state;  // within the bytes that were given
  std::uint64_t checksum = 0;
};

// Checks every bit.
[[nodiscard]] Result<RankFile> DecodeRankFile(std::span<const std::byte> file);

}  // namespace leeway
