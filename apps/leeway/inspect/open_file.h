// OpenFile: a file that is read in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "leeway/status.h"

namespace leeway::app {

class OpenFile {
 public:
  [[nodiscard]] static Result<OpenFile> Open(const std::string& path);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Exactly `bytes` from `offset`, or an error.
  [[nodiscard]] Result<std::vector<std::byte>> Read(std::uint64_t offset, std::uint64_t bytes);

 private:
  OpenFile(std::string path, std::ifstream file, std::uint64_t bytes)
      : path_(std::move(path)), file_(std::move(file)), bytes_(bytes) {}

  std::string path_;
  std::ifstream file_;
  std::uint64_t bytes_;
};

// A whole file. (Of a worker's state, which fits into memory.)
[[nodiscard]] Result<std::vector<std::byte>> ReadAll(const std::string& path);

}  // namespace leeway::app
