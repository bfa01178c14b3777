#include "transport/open_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/file_error.h"
#include "transport/system/descriptor.h"

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

// Whether a lock failed because the file system has none.
bool HasNoLocks(int error) { return error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK; }

// Names this process to another that is refused its lock.
std::string HolderText() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return fmt::format("pid {} on host \"{}\"\n", getpid(), host.data());
}

// The text that the holder of the lock wrote into the file.
std::string ReadHolder(int fd) {
  std::array<char, 512> text{};
  const ssize_t bytes = Uncut([&] { return pread(fd, text.data(), text.size(), 0); });
  std::string holder;
  for (const char c : std::string_view(text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)))) {
    if (c == '\n') break;
    holder += c >= ' ' && c <= '~' ? c : '?';
  }
  return holder.empty() ? "it does not say which" : holder;
}

Status HeldError(const std::string& path, int fd) {
  return FailedPrecondition("cannot lock \"{}\": another process has it: {}", path, ReadHolder(fd));
}

}  // namespace

OpenFiles::~OpenFiles() {
  CloseAll();
  for (const auto& [path, fd] : locks_) close(fd);
}

int OpenFiles::Writable(const std::string& path, IfMissing if_missing) {
  const auto known = open_.find(path);
  if (known != open_.end()) {
    known->second.used = ++uses_;
    return known->second.fd;
  }
  const FilePlace place(path, if_missing);
  if (place.error() != 0) return -place.error();
  return Keep(path, place.Open(O_WRONLY | O_APPEND | (if_missing == IfMissing::kMake ? O_CREAT : 0)));
}

int OpenFiles::New(const std::string& path) {
  Close(path);  // one of that name that another process removed since
  const FilePlace place(path, IfMissing::kMake);
  if (place.error() != 0) return -place.error();
  return Keep(path, place.Open(O_WRONLY | O_APPEND | O_CREAT | O_EXCL));
}

int OpenFiles::Keep(const std::string& path, int fd) {
  if (fd < 0) return fd;
  if (open_.size() >= open_max_) CloseOldest();
  open_[path] = {fd, ++uses_};
  return fd;
}

void OpenFiles::CloseOldest() {
  const auto oldest = std::min_element(
      open_.begin(), open_.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
  close(oldest->second.fd);
  open_.erase(oldest);
}

void OpenFiles::Close(const std::string& path) {
  const auto known = open_.find(path);
  if (known == open_.end()) return;
  close(known->second.fd);
  open_.erase(known);
}

void OpenFiles::CloseAll() {
  for (const auto& [path, file] : open_) close(file.fd);
  open_.clear();
}

Status OpenFiles::Create(const std::string& path, const std::vector<Pinned>& data) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  return Write(New(path), path, data, "create");
}

Status OpenFiles::Append(const std::string& path, const std::vector<Pinned>& data) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  return Write(Writable(path, IfMissing::kMake), path, data, "append to");
}

Status OpenFiles::Write(int fd, const std::string& path, const std::vector<Pinned>& data,
                        std::string_view verb) {
  const int error = fd < 0 ? -fd : WriteAll(fd, data);
  if (error != 0) Close(path);  // nobody may come to sync it
  return FileCallError(error, fmt::format("cannot {} \"{}\"", verb, path), path);
}

Status OpenFiles::Sync(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const int fd = Writable(path, IfMissing::kError);
  const int error = fd < 0 ? -fd : Uncut([&] { return fsync(fd); }) < 0 ? errno : 0;
  // It is complete, as a rule. Another process may remove it, and its room on the disk is free then.
  Close(path);
  return FileCallError(error, fmt::format("cannot sync \"{}\"", path), path);
}

Status OpenFiles::SyncFolder(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const int fd = OpenFolder(path, O_RDONLY);
  const Descriptor folder(fd < 0 ? -1 : fd);
  const int error = fd < 0 ? -fd : Uncut([&] { return fsync(fd); }) < 0 ? errno : 0;
  return FolderCallError(error, fmt::format("cannot sync the folder \"{}\"", path), path);
}

Status OpenFiles::Rename(const std::string& from, const std::string& to) {
  LW_RETURN_IF_ERROR(CheckPath(from));
  LW_RETURN_IF_ERROR(CheckPath(to));
  CloseAll();
  const std::string what = fmt::format("cannot rename \"{}\" to \"{}\"", from, to);
  const FilePlace source(from);
  if (source.error() != 0) return FileCallError(source.error(), what, from);
  const FilePlace target(to);
  if (target.error() != 0) return FileCallError(target.error(), what, to);
  const bool renamed = renameat(source.folder(), source.name(), target.folder(), target.name()) == 0;
  return FileError(renamed ? 0 : errno, what);
}

Status OpenFiles::Remove(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  if (normal == normal.root_path()) return InvalidArgument("cannot remove \"{}\": it is the root", path);
  CloseAll();
  const FilePlace place(path);
  if (place.error() == ENOENT || place.error() == ENOTDIR) return Status::Ok();  // nothing is below a file
  const int error = place.error() != 0 ? place.error() : RemoveAt(place.folder(), place.name());
  return FileCallError(error, fmt::format("cannot remove \"{}\"", path), path);
}

Result<std::vector<std::byte>> OpenFiles::Read(const std::string& path, std::uint64_t offset,
                                               std::uint64_t bytes) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const std::string what = fmt::format("cannot read \"{}\"", path);
  const FilePlace place(path);
  if (place.error() != 0) return FileCallError(place.error(), what, path);
  // (A pipe of that name would be waited for.)
  const int fd = place.Open(O_RDONLY | O_NONBLOCK);
  if (fd < 0) return FileCallError(-fd, what, path);
  const Descriptor file(fd);
  struct stat about {};
  if (fstat(fd, &about) < 0) return FileError(errno, what);
  if (S_ISDIR(about.st_mode)) return FileError(EISDIR, what);
  if (!S_ISREG(about.st_mode)) return FailedPrecondition("{}: it is no regular file", what);
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
    const ssize_t got = Uncut(
        [&] { return pread(fd, data.data() + have, data.size() - have, static_cast<off_t>(offset + have)); });
    if (got < 0) return FileError(errno, what);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  data.resize(have);
  return data;
}

bool OpenFiles::HasLocked(int fd) const {
  struct stat asked {};
  if (fstat(fd, &asked) != 0) return false;
  return std::any_of(locks_.begin(), locks_.end(), [&](const auto& lock) {
    struct stat own {};
    return fstat(lock.second, &own) == 0 && own.st_dev == asked.st_dev && own.st_ino == asked.st_ino;
  });
}

Status OpenFiles::Lock(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  if (locks_.contains(path)) return Status::Ok();
  const std::string what = fmt::format("cannot lock \"{}\"", path);
  const FilePlace place(path, IfMissing::kMake);
  if (place.error() != 0) return FileCallError(place.error(), what, path);
  const int fd = place.Open(O_RDWR | O_CREAT);
  if (fd < 0) return FileCallError(-fd, what, path);
  if (HasLocked(fd)) {  // by another path
    close(fd);
    return Status::Ok();
  }
  if (Uncut([&] { return flock(fd, LOCK_EX | LOCK_NB); }) < 0) {
    const int error = errno;
    const Descriptor ends(fd);
    if (error == EWOULDBLOCK) return HeldError(path, fd);
    if (!HasNoLocks(error)) return FileError(error, what);
    return ResourceExhausted("{}: its file system has no locks (flock): {}", what,
                             std::generic_category().message(error));
  }
  locks_[path] = fd;
  // For people: a disk that is full keeps nobody from the lock.
  const std::string holder = HolderText();
  [[maybe_unused]] const bool written =
      ftruncate(fd, 0) == 0 && pwrite(fd, holder.data(), holder.size(), 0) >= 0;
  return Status::Ok();
}

Status OpenFiles::CheckUnlocked(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const FilePlace place(path);
  const int fd = place.error() != 0 ? -place.error() : place.Open(O_RDONLY | O_NONBLOCK);
  // One that is not there, or that this process may not open, is nothing that it could have locked itself.
  if (fd == -ENOENT || fd == -EACCES) return Status::Ok();
  if (fd < 0) return FileCallError(-fd, fmt::format("cannot look at the lock \"{}\"", path), path);
  const Descriptor ends(fd);
  if (HasLocked(fd)) return Status::Ok();
  // The lock that this takes ends with the descriptor.
  const bool held = Uncut([&] { return flock(fd, LOCK_SH | LOCK_NB); }) < 0 && errno == EWOULDBLOCK;
  return held ? HeldError(path, fd) : Status::Ok();
}

Result<std::vector<Storage::Entry>> OpenFiles::List(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const std::string what = fmt::format("cannot list \"{}\"", path);
  const int fd = OpenFolder(path, O_RDONLY);
  if (fd < 0) return FolderCallError(-fd, what, path);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(fd), closedir);
  if (listing == nullptr) {
    const int error = errno;
    close(fd);
    return FileError(error, what);
  }
  std::vector<Storage::Entry> entries;
  errno = 0;
  while (const dirent* entry = readdir(listing.get())) {
    const std::string name = entry->d_name;
    struct stat about {};
    // A file that vanishes meanwhile is not listed. A link is no folder, and its size is that of its text.
    if (name != "." && name != ".." && fstatat(fd, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0) {
      const bool folder = S_ISDIR(about.st_mode);
      entries.push_back({name, folder ? 0 : static_cast<std::uint64_t>(about.st_size), folder});
    }
    errno = 0;
  }
  if (errno != 0) return FileError(errno, what);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

}  // namespace leeway
