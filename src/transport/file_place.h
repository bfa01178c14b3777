// FilePlace: the place that the path of a file names, as an open folder and a name in it. OpenFiles makes one
// for each call, so that no call follows a link that somebody put in the way.
//
// Links in the last name of the folder are not followed, and callers open the name itself with O_NOFOLLOW or
// O_EXCL. The system resolves the earlier parts of the path, links included. Thread rule: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/status.h"
#include "transport/system/descriptor.h"

namespace leeway {

// The modes of new folders and files: only their owner may use them, even where the umask allows more.
inline constexpr unsigned kPrivateFolderMode = 0700;
inline constexpr unsigned kPrivateFileMode = 0600;

class FilePlace {
 public:
  enum class IfMissing : std::uint8_t { kError, kMake };  // the folder
  explicit FilePlace(const std::string& path, IfMissing if_missing = IfMissing::kError);

  [[nodiscard]] int error() const { return error_; }  // 0 or an errno value
  // REQUIRES: no error.
  [[nodiscard]] int folder() const { return folder_.fd(); }
  [[nodiscard]] const char* name() const { return name_.c_str(); }
  // Opens the file, or makes it with O_CREAT; never through a link. Returns the descriptor, or minus an errno
  // value.
  [[nodiscard]] int Open(int flags) const;

 private:
  std::string name_;
  Descriptor folder_;
  int error_ = 0;
};

// Makes the folder and its parents, each for its owner alone. A folder that exists stays as it is. Returns 0
// or an errno value.
[[nodiscard]] int MakePrivateFolders(const std::string& path);
// Opens a folder; a link in its last name is ELOOP. Returns the descriptor, or minus an errno value.
[[nodiscard]] int OpenFolder(const std::string& path, int flags);
// Removes a file, a link itself, or a folder with its contents. A missing file is no error. Returns 0 or an
// errno value.
[[nodiscard]] int RemoveAt(int folder, const char* name);

// FileError for a call on a file, or on a folder: an error that a link led to names the link.
[[nodiscard]] Status FileCallError(int error, std::string_view what, const std::string& path);
[[nodiscard]] Status FolderCallError(int error, std::string_view what, const std::string& path);

}  // namespace leeway
