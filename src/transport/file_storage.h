// FileStorage: the files of the real world. Calls are carried out in order by one thread, which starts with
// the first of them, and are answered on the loop; what a call lent is let go there too. The destructor waits
// for the call under way and drops the rest. Thread rule and lifetime: those of ThreadCompute.
//
// A file belongs to one FileStorage at a time: another that renames or removes it is not noticed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "leeway/storage.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/thread_compute.h"
#include "transport/open_files.h"

namespace leeway {

class FileStorage final : public Storage {
 public:
  // A log and a few files of a checkpoint are written at a time; the system's limit per process is often 1024
  // and shared with all connections.
  static constexpr std::size_t kOpenFilesMax = 16;

  explicit FileStorage(EventLoop& loop) : thread_(loop, "leeway-files") {}

  void Create(const std::string& path, std::vector<Pinned> data, Done done) override;
  void Append(const std::string& path, std::vector<Pinned> data, Done done) override;
  void Sync(const std::string& path, Done done) override;
  void SyncFolder(const std::string& path, Done done) override;
  void Rename(const std::string& from, const std::string& to, Done done) override;
  void Remove(const std::string& path, Done done) override;
  void Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes,
            std::function<void(Result<std::vector<std::byte>>)> done) override;
  void Lock(const std::string& path, Done done) override;
  void CheckUnlocked(const std::string& path, Done done) override;
  void List(const std::string& path, std::function<void(Result<std::vector<Entry>>)> done) override;

 private:
  template <typename Answer, typename Reply>
  void Call(std::function<Answer()> work, Reply done);

  OpenFiles files_{kOpenFilesMax};  // on the thread only
  ThreadCompute thread_;            // after files_: joined before they close
};

}  // namespace leeway
