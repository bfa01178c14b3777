// IDX: the file format of MNIST and its relatives, plain or gzipped: a magic number, the extent of each
// dimension, then the values. The reader accepts only bytes as values, as in those files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leeway/status.h"

namespace leeway::problem {

struct IdxArray {
  std::vector<std::uint32_t> shape;
  std::vector<std::uint8_t> bytes;  // the last dimension runs fastest
};

inline constexpr std::uint64_t kIdxBytesMax = 256ULL << 20;  // four times the largest file of MNIST

// An error names the file, what it got and what it wanted.
[[nodiscard]] Result<IdxArray> ReadIdxFile(const std::string& path, std::uint32_t dimensions);

}  // namespace leeway::problem
