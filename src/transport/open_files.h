// OpenFiles: calls on files as the system has them, carried out at once. FileStorage makes them on its
// thread.
//
// Keeps a bounded number of files open, each from its first append to its sync: a descriptor that was open
// all the while hears of every write that failed in between. After the sync it is closed, since another
// process may remove the file, whose room on the disk is free only when nobody has it open. Every Rename and
// Remove closes all: a descriptor follows its file to the new name, and the next append is meant for the old
// one. (Which ones to close would be hard to say, since a file has many paths; opening again takes
// microseconds.) Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "leeway/status.h"
#include "leeway/storage.h"
#include "transport/file_place.h"

namespace leeway {

class OpenFiles {
 public:
  explicit OpenFiles(std::size_t open_max) : open_max_(open_max) {}
  ~OpenFiles();
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  // The calls of Storage, and their answers.
  Status Create(const std::string& path, const std::vector<Pinned>& data);
  Status Append(const std::string& path, const std::vector<Pinned>& data);
  Status Sync(const std::string& path);
  Status SyncFolder(const std::string& path);
  Status Rename(const std::string& from, const std::string& to);
  Status Remove(const std::string& path);
  Result<std::vector<std::byte>> Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes);
  Status Lock(const std::string& path);
  Status CheckUnlocked(const std::string& path);
  Result<std::vector<Storage::Entry>> List(const std::string& path);

 private:
  struct File {
    int fd = -1;
    std::uint64_t used = 0;  // when, for closing the one that was not used for longest
  };
  using IfMissing = FilePlace::IfMissing;
  // The descriptor for appends to `path`, or minus an errno value; of a new file.
  int Writable(const std::string& path, IfMissing if_missing);
  int New(const std::string& path);
  int Keep(const std::string& path, int fd);
  Status Write(int fd, const std::string& path, const std::vector<Pinned>& data, std::string_view verb);
  // Whether this process holds the lock of the file, by any path.
  [[nodiscard]] bool HasLocked(int fd) const;
  void Close(const std::string& path);
  void CloseOldest();
  void CloseAll();

  const std::size_t open_max_;
  std::uint64_t uses_ = 0;
  std::unordered_map<std::string, File> open_;  // by path as given
  std::unordered_map<std::string, int> locks_;  // descriptors that hold a lock, open for good
};

}  // namespace leeway
