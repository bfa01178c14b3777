// SimStorage: the Storage of one simulated process, a queue of calls on its host's Disk. Each call is carried
// out and answered, as an event, once the disk has taken its time for it.
//
// Destroyed without a crash it ends as the real one does: the call under way is carried out, the rest is
// dropped. After a crash it takes no calls and makes none.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "leeway/storage.h"
#include "sim/disk.h"
#include "sim/event_queue.h"

namespace leeway::sim {

// A folder on another disk than the rest: one that several hosts share.
struct Mount {
  std::string folder;  // and all that is in it
  Disk* disk = nullptr;
};

class SimStorage final : public Storage, private Disk::Process {
 public:
  // Borrows the queue and the disks. `disk` is the host's: a loss of its power ends the process.
  SimStorage(EventQueue& queue, Disk& disk, Mount mount = {})
      : queue_(queue), disk_(disk), mount_(std::move(mount)) {
    disk_.Attach(this);
  }
  ~SimStorage() override;
  SimStorage(const SimStorage&) = delete;
  SimStorage& operator=(const SimStorage&) = delete;

  // This process alone dies, as in Disk::ProcessCrash.
  void ProcessCrash() { OnCrash(); }

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
  struct Call {
    std::function<void()> carry_out;       // on the disk; keeps the answer
    std::function<void()> answer;          // to the node
    std::function<void()> tear;            // the process dies inside it; empty: it is carried out or not
    std::function<std::uint64_t()> bytes;  // bytes to move, asked when its turn comes; empty: no bytes
    bool sync = false;
    Disk* disk = nullptr;
  };
  [[nodiscard]] Disk& DiskOf(const std::string& path) {
    return mount_.disk != nullptr && path.starts_with(mount_.folder) ? *mount_.disk : disk_;
  }
  template <typename Answer, typename Reply>
  [[nodiscard]] static Call Make(std::function<Answer()> work, Reply done);
  void Submit(Call call, Disk& disk);
  void Write(const std::string& path, std::vector<Pinned> data, FileTree::IfThere if_there, Done done);
  void StartNext();
  void Finish();
  void DropCalls();
  void Unlock();
  void OnCrash() override;

  EventQueue& queue_;
  Disk& disk_;
  const Mount mount_;
  bool crashed_ = false;
  std::deque<Call> calls_;  // the first one is under way
  EventId event_;           // its end
};

}  // namespace leeway::sim
