#include "launch/text_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/errors.h"

namespace leeway::app {

namespace {

Status CannotWrite(const std::string& path, int error) {
  return NotFound("cannot write {}: {}", path, std::strerror(error));
}

Status WriteInPlace(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file ? Status::Ok() : CannotWrite(path, errno);
}

// What stands there afterwards is the whole text, or what stood there before.
Status Replace(const std::string& path, const std::string& text) {
  const std::string beside = fmt::format("{}.{}", path, getpid());
  Status written = WriteInPlace(beside, text);
  if (written.ok() && std::rename(beside.c_str(), path.c_str()) != 0) written = CannotWrite(path, errno);
  if (!written.ok()) std::remove(beside.c_str());  // half of it, when the disk is full
  return written;
}

}  // namespace

Status WriteTextFile(const std::string& path, const std::string& text) {
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(there)) return Replace(path, text);
  if (!std::filesystem::is_regular_file(there)) return WriteInPlace(path, text);
  return Replace(std::filesystem::canonical(path, ignored).string(), text);
}

Result<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read {}: {}", path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace leeway::app
