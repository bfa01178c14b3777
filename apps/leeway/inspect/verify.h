// VerifyCheckpoint: looks at every byte of a checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leeway::app {

struct Verified {
  std::vector<std::string> problems;  // each names the file and, where it can, the offset, block and table
  std::uint64_t files = 0, blocks = 0, ranks = 0, bytes = 0;  // that were looked at
};

// `checkpoint` is the folder of one.
[[nodiscard]] Verified VerifyCheckpoint(const std::string& checkpoint);

}  // namespace leeway::app
