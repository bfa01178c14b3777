#include "transport/file_place.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "base/errors.h"
#include "base/file_error.h"

namespace leeway {
namespace {

struct PathParts {
  std::string folder;
  std::string name;
};

std::string WithoutEndSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// Slashes at the end stay with the name: the system then wants a folder there.
PathParts SplitPath(const std::string& path) {
  const std::string whole = WithoutEndSlashes(path);
  if (whole == "/") return {"/", "."};
  const std::size_t slash = whole.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {WithoutEndSlashes(path.substr(0, slash + 1)), path.substr(slash + 1)};
}

bool IsLink(const std::string& path) {
  struct stat about {};
  return lstat(WithoutEndSlashes(path).c_str(), &about) == 0 && S_ISLNK(about.st_mode);
}

Status LinkError(std::string_view what, const std::string& link) {
  return FailedPrecondition(
      "{}: \"{}\" is a symbolic link, and links are not followed here: remove it, or put a file or folder in "
      "its place",
      what, WithoutEndSlashes(link));
}

// The errno of a call that does not follow a link: EEXIST, if the call was to make the file.
bool MayBeOfALink(int error) { return error == ELOOP || error == EEXIST; }

}  // namespace

FilePlace::FilePlace(const std::string& path, IfMissing if_missing) {
  PathParts parts = SplitPath(path);
  name_ = std::move(parts.name);
  int fd = OpenFolder(parts.folder, O_PATH);
  if (fd == -ENOENT && if_missing == IfMissing::kMake) {
    if (error_ = MakePrivateFolders(parts.folder); error_ != 0) return;
    fd = OpenFolder(parts.folder, O_PATH);
  }
  if (fd < 0) {
    error_ = -fd;
  } else {
    folder_ = Descriptor(fd);
  }
}

int FilePlace::Open(int flags) const {
  int fd = -1;
  do {
    fd = openat(folder(), name(), flags | O_NOFOLLOW | O_CLOEXEC, kPrivateFileMode);
  } while (fd < 0 && errno == EINTR);
  return fd < 0 ? -errno : fd;
}

int MakePrivateFolders(const std::string& path) {
  const std::string whole = WithoutEndSlashes(path);
  if (mkdir(whole.c_str(), kPrivateFolderMode) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT) return errno;
  const std::string above = SplitPath(whole).folder;
  if (above == whole || above == ".") return ENOENT;
  if (const int error = MakePrivateFolders(above); error != 0) return error;
  return mkdir(whole.c_str(), kPrivateFolderMode) == 0 || errno == EEXIST ? 0 : errno;
}

int OpenFolder(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = open(WithoutEndSlashes(path).c_str(), flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd >= 0) return fd;
  // Linux says ENOTDIR for a link, even one to a folder.
  const int error = errno;
  return error == ENOTDIR && IsLink(path) ? -ELOOP : -error;
}

int RemoveAt(int folder, const char* name) {
  if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR) return errno;
  const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 0 : errno;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(fd), closedir);
  if (listing == nullptr) {
    const int error = errno;
    close(fd);
    return error;
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view found = entry->d_name;
    if (found != "." && found != "..") names.emplace_back(found);
  }
  for (const std::string& found : names) {
    if (const int error = RemoveAt(fd, found.c_str()); error != 0) return error;
  }
  return unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

Status FileCallError(int error, std::string_view what, const std::string& path) {
  if (MayBeOfALink(error)) {
    if (const std::string folder = SplitPath(path).folder; IsLink(folder)) return LinkError(what, folder);
    if (IsLink(path)) return LinkError(what, path);
  }
  return FileError(error, what);
}

Status FolderCallError(int error, std::string_view what, const std::string& path) {
  if (MayBeOfALink(error) && IsLink(path)) return LinkError(what, path);
  return FileError(error, what);
}

}  // namespace leeway
