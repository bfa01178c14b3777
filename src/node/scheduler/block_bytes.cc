#include "node/scheduler/block_bytes.h"

#include <algorithm>

namespace leeway {
namespace {

constexpr std::uint64_t kBlocksPerShard = 8;

}  // namespace

std::uint64_t BlockBytesByNeed(std::uint64_t model_bytes, std::uint64_t shards) {
  const std::uint64_t bytes =
      std::clamp(model_bytes / shards / kBlocksPerShard, kBlockBytesLeast, kBlockBytesMost);
  return bytes - bytes % sizeof(float);
}

}  // namespace leeway
