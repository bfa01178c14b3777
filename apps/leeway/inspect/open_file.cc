#include "inspect/open_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/file_error.h"

namespace leeway::app {

Result<OpenFile> OpenFile::Open(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return FileError(error.value(), path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return FileError(errno, path);
  return OpenFile(path, std::move(file), bytes);
}

Result<std::vector<std::byte>> OpenFile::Read(std::uint64_t offset, std::uint64_t bytes) {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    return InvalidArgument("{}: has {} bytes, wanted {} at offset {}", path_, bytes_, bytes, offset);
  }
  std::vector<std::byte> piece(bytes);
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(bytes));
  if (!file_) return Unavailable("{}: cannot read {} bytes at offset {}", path_, bytes, offset);
  return piece;
}

Result<std::vector<std::byte>> ReadAll(const std::string& path) {
  LW_ASSIGN_OR_RETURN(OpenFile file, OpenFile::Open(path));
  return file.Read(0, file.bytes());
}

}  // namespace leeway::app
