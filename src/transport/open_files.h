// OpenFiles: calls on files as the system has them, carried out at once. FileStorage makes them on its
// thread.
//
// Keeps a bounded number of files open for the appends and syncs to come. Every Rename and Remove closes them
// all: a descriptor follows its file to the new name, and the next append is meant for the old one. (Which
// ones to close would be hard to say, since a file has many paths; opening again takes microseconds.) Thread
// rule: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "leeway/status.h"
#include "leeway/storage.h"

namespace leeway {

class OpenFiles {
 public:
  explicit OpenFiles(std::size_t open_max) : open_max_(open_max) {}
  ~OpenFiles();
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  // What the calls of Storage do, and their answers.
  Status Append(const std::string& path, const std::vector<Pinned>& data);
  Status Sync(const std::string& path);
  Status SyncFolder(const std::string& path);
  Status Rename(const std::string& from, const std::string& to);
  Status Remove(const std::string& path);
  Result<std::vector<std::byte>> Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes);
  Status Lock(const std::string& path);
  Result<std::vector<Storage::Entry>> List(const std::string& path);

 private:
  struct File {
    int fd = -1;
    std::uint64_t used = 0;  // when, for closing the one that was not used for longest
  };
  // Opens the file, making it and its folders if missing. The descriptor, or minus an errno value.
  static int OpenOrMake(const std::string& path, int flags);
  // The descriptor for appends to `path`, or minus an errno value.
  int Writable(const std::string& path, bool make);
  void CloseOldest();
  void CloseAll();

  const std::size_t open_max_;
  std::uint64_t uses_ = 0;
  std::unordered_map<std::string, File> open_;  // by path as given
  std::unordered_map<std::string, int> locks_;  // descriptors that hold a lock, open for good
};

}  // namespace leeway
