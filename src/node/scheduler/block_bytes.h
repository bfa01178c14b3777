// BlockBytesByNeed: how long blocks are in a job whose user does not say.
//
// A block is the unit of placement, so a model spreads only as far as its blocks do. Blocks of one fixed size
// fail twice: a small model is one block on one server, and a large one has more blocks than it needs. Each
// shard should get about eight blocks, so that the difference between two shards is small beside their share.
#pragma once

#include <cstdint>

namespace leeway {

// The bounds of what BlockBytesByNeed answers. Below the lower one the fixed cost of a block counts (4 % at
// 64 KiB, docs/performance.md); above the upper one a single block delays the frames behind it.
inline constexpr std::uint64_t kBlockBytesLeast = 64U << 10;
inline constexpr std::uint64_t kBlockBytesMost = 4U << 20;

// The largest block of a model of so many bytes on so many shards, a multiple of sizeof(float). `shards` is
// the most that the job may have: blocks are cut once, and never again. REQUIRES: shards is above 0.
[[nodiscard]] std::uint64_t BlockBytesByNeed(std::uint64_t model_bytes, std::uint64_t shards);

}  // namespace leeway
