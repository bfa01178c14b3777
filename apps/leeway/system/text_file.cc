#include "system/text_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/errors.h"

namespace leeway::app {

namespace {

namespace fs = std::filesystem;

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

// The descriptor of stdout or stderr if it is that file; else -1. Replacing the file would drop the other
// output of this process.
int StreamOf(const std::string& path) {
  struct stat file {
  }, stream{};
  if (stat(path.c_str(), &file) != 0) return -1;
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    if (fstat(fd, &stream) == 0 && stream.st_dev == file.st_dev && stream.st_ino == file.st_ino) return fd;
  }
  return -1;
}

Status WriteTo(int fd, const std::string& path, std::string_view text) {
  std::fflush(nullptr);  // what was printed before comes before
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return CannotWrite(path, errno);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return Status::Ok();
}

// Afterwards the file holds the whole text, or its old content.
Status Replace(const std::string& path, const std::string& text) {
  const std::string beside = fmt::format("{}.{}", path, getpid());
  Status written = WriteInPlace(beside, text);
  if (written.ok() && std::rename(beside.c_str(), path.c_str()) != 0) written = CannotWrite(path, errno);
  if (!written.ok()) std::remove(beside.c_str());  // half of it, when the disk is full
  return written;
}

}  // namespace

Status CheckTextFile(const std::string& path) {
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::is_directory(there)) return InvalidArgument("got \"{}\", a folder; wanted a file", path);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    if (access(path.c_str(), W_OK) == 0) return Status::Ok();
    return InvalidArgument("got \"{}\", which cannot be written to: {}", path, std::strerror(errno));
  }
  const fs::path parent = fs::path(path).parent_path(), folder = parent.empty() ? fs::path(".") : parent;
  if (!fs::is_directory(folder, ignored))
    return InvalidArgument("got \"{}\", but there is no folder {}", path, folder.string());
  if (access(folder.c_str(), W_OK | X_OK) == 0) return Status::Ok();
  return InvalidArgument("got \"{}\", wanted a file in a folder that can be written to", path);
}

Status WriteTextFile(const std::string& path, const std::string& text) {
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) return WriteInPlace(path, text);
  if (const int fd = StreamOf(path); fd >= 0) return WriteTo(fd, path, text);
  if (!fs::is_symlink(fs::symlink_status(path, ignored))) return Replace(path, text);
  std::error_code error;
  const fs::path target = fs::exists(there) ? fs::canonical(path, error)
                                            : fs::path(path).parent_path() / fs::read_symlink(path, error);
  return error ? CannotWrite(path, error.value()) : Replace(target.string(), text);
}

Result<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read {}: {}", path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace leeway::app
