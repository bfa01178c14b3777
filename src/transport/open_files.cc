#include "transport/open_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <utility>

#include "base/errors.h"
#include "base/file_error.h"

namespace leeway {
namespace {

// Runs a system call again while a signal cuts it off.
template <typename Call>
auto Uncut(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// 0 or an errno value.
int WriteAll(int fd, const std::vector<Pinned>& data) {
  std::vector<iovec> pieces;
  pieces.reserve(data.size());
  for (const Pinned& piece : data) {
    if (piece.bytes.empty()) continue;
    // writev takes pointers to what may be written to, and does not write to it.
    pieces.push_back({const_cast<std::byte*>(piece.bytes.data()), piece.bytes.size()});
  }
  for (std::size_t first = 0; first < pieces.size();) {
    const int count = static_cast<int>(std::min<std::size_t>(pieces.size() - first, IOV_MAX));
    const ssize_t written = Uncut([&] { return writev(fd, &pieces[first], count); });
    if (written < 0) return errno;
    auto rest = static_cast<std::size_t>(written);
    while (first < pieces.size() && rest >= pieces[first].iov_len) rest -= pieces[first++].iov_len;
    if (rest == 0) continue;
    pieces[first].iov_base = static_cast<std::byte*>(pieces[first].iov_base) + rest;
    pieces[first].iov_len -= rest;
  }
  return 0;
}

// Makes the folders that `path` is in. 0 or an errno value.
int MakeFoldersOf(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (parent.empty()) return 0;
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  return error.value();
}

// A descriptor for the time of one call.
class OneUse {
 public:
  OneUse(const std::string& path, int flags)
      : fd_(Uncut([&] { return open(path.c_str(), flags | O_CLOEXEC); })) {}
  ~OneUse() {
    if (fd_ >= 0) close(fd_);
  }
  OneUse(const OneUse&) = delete;
  OneUse& operator=(const OneUse&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace

OpenFiles::~OpenFiles() {
  CloseAll();
  for (const auto& [path, fd] : locks_) close(fd);
}

int OpenFiles::OpenOrMake(const std::string& path, int flags) {
  const auto attempt = [&] { return Uncut([&] { return open(path.c_str(), flags | O_CREAT, 0666); }); };
  int fd = attempt();
  if (fd < 0 && errno == ENOENT) {
    if (const int error = MakeFoldersOf(path); error != 0) return -error;
    fd = attempt();
  }
  return fd < 0 ? -errno : fd;
}

int OpenFiles::Writable(const std::string& path, bool make) {
  const auto known = open_.find(path);
  if (known != open_.end()) {
    known->second.used = ++uses_;
    return known->second.fd;
  }
  if (open_.size() >= open_max_) CloseOldest();
  const int flags = O_WRONLY | O_APPEND | O_CLOEXEC;
  const int fd = make ? OpenOrMake(path, flags) : Uncut([&] { return open(path.c_str(), flags); });
  if (fd < 0) return make ? fd : -errno;
  open_[path] = {fd, ++uses_};
  return fd;
}

void OpenFiles::CloseOldest() {
  const auto oldest = std::min_element(
      open_.begin(), open_.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
  close(oldest->second.fd);
  open_.erase(oldest);
}

void OpenFiles::CloseAll() {
  for (const auto& [path, file] : open_) close(file.fd);
  open_.clear();
}

Status OpenFiles::Append(const std::string& path, const std::vector<Pinned>& data) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const int fd = Writable(path, true);
  return FileError(fd < 0 ? -fd : WriteAll(fd, data), fmt::format("cannot append to \"{}\"", path));
}

Status OpenFiles::Sync(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const int fd = Writable(path, false);
  const int error = fd < 0 ? -fd : Uncut([&] { return fsync(fd); }) < 0 ? errno : 0;
  return FileError(error, fmt::format("cannot sync \"{}\"", path));
}

Status OpenFiles::SyncFolder(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const OneUse folder(path, O_RDONLY | O_DIRECTORY);
  const bool synced = folder.fd() >= 0 && Uncut([&] { return fsync(folder.fd()); }) == 0;
  return FileError(synced ? 0 : errno, fmt::format("cannot sync the folder \"{}\"", path));
}

Status OpenFiles::Rename(const std::string& from, const std::string& to) {
  LW_RETURN_IF_ERROR(CheckPath(from));
  LW_RETURN_IF_ERROR(CheckPath(to));
  CloseAll();
  const int error = rename(from.c_str(), to.c_str()) < 0 ? errno : 0;
  return FileError(error, fmt::format("cannot rename \"{}\" to \"{}\"", from, to));
}

Status OpenFiles::Remove(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  if (normal == normal.root_path()) return InvalidArgument("cannot remove \"{}\": it is the root", path);
  CloseAll();
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error.value() == ENOTDIR) return Status::Ok();  // below a file there is nothing
  return FileError(error.value(), fmt::format("cannot remove \"{}\"", path));
}

Result<std::vector<std::byte>> OpenFiles::Read(const std::string& path, std::uint64_t offset,
                                               std::uint64_t bytes) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const auto error = [&] { return FileError(errno, fmt::format("cannot read \"{}\"", path)); };
  const OneUse file(path, O_RDONLY);
  struct stat about {};
  if (file.fd() < 0 || fstat(file.fd(), &about) < 0) return error();
  if (S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return error();
  }
  // The file says how much there can be, not the caller: asking for "all" allocates no more than that.
  const auto size = static_cast<std::uint64_t>(about.st_size);
  const std::uint64_t wanted = offset < size ? std::min(bytes, size - offset) : 0;
  std::vector<std::byte> data;
  try {
    data.resize(wanted);
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("cannot read \"{}\": no memory for {} bytes of it", path, wanted);
  }
  std::size_t have = 0;
  while (have < data.size()) {
    const ssize_t got = Uncut([&] {
      return pread(file.fd(), data.data() + have, data.size() - have, static_cast<off_t>(offset + have));
    });
    if (got < 0) return error();
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  data.resize(have);
  return data;
}

Status OpenFiles::Lock(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  if (locks_.contains(path)) return Status::Ok();
  const int fd = OpenOrMake(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return FileError(-fd, fmt::format("cannot lock \"{}\"", path));
  if (Uncut([&] { return flock(fd, LOCK_EX | LOCK_NB); }) < 0) {
    const int error = errno;
    close(fd);
    if (error == EWOULDBLOCK) return FailedPrecondition("cannot lock \"{}\": another process has it", path);
    return FileError(error, fmt::format("cannot lock \"{}\"", path));
  }
  locks_[path] = fd;
  return Status::Ok();
}

Result<std::vector<Storage::Entry>> OpenFiles::List(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  std::vector<Storage::Entry> entries;
  std::error_code error;
  std::filesystem::directory_iterator at(path, error);
  while (!error && at != std::filesystem::directory_iterator()) {
    std::error_code gone;  // what vanishes meanwhile is not listed
    const bool folder = at->is_directory(gone);
    const std::uint64_t bytes = gone || folder ? 0 : at->file_size(gone);
    if (!gone) entries.push_back({at->path().filename().string(), bytes, folder});
    at.increment(error);
  }
  if (error) return FileError(error.value(), fmt::format("cannot list \"{}\"", path));
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

}  // namespace leeway
