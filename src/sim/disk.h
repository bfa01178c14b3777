// Disk: the files of one simulated host, how long calls on them take, and how they fail.
//
// A Disk belongs to a host and outlives the processes there, each of which has a SimStorage on it. All draws
// come from the seed: the same calls and crashes at the same times leave the same files. The Disk carries
// calls on files out at once. SimStorage makes them when their time has come; a test may make them directly,
// to prepare or inspect files.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/pinned.h"
#include "leeway/status.h"
#include "leeway/storage.h"
#include "sim/file_tree.h"
#include "sim/seeded_random.h"

namespace leeway::sim {

struct DiskOptions {
  // The latency of a common SSD; each call takes between half and one and a half of it.
  Duration call_latency = std::chrono::microseconds(20);
  Duration sync_latency = std::chrono::microseconds(500);  // of Sync and SyncFolder
  std::uint64_t bytes_per_second = 500'000'000;            // appended or read
  std::uint64_t capacity_bytes = std::numeric_limits<std::uint64_t>::max();
};

// How often each fault really happened.
struct DiskCounters {
  std::uint64_t appends = 0;        // carried out, or tried
  std::uint64_t full_answers = 0;   // appends that did not fit
  std::uint64_t dropped_calls = 0;  // not carried out, because the process died first
  std::uint64_t torn_appends = 0;   // of which a dying process left a part, but not all
  PowerLossCounters power;          // what losses of power took

  DiskCounters& operator+=(const DiskCounters& other);
};

class Disk {
 public:
  Disk(const DiskOptions& options, std::uint64_t seed);
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // Kills every process of the host (kill -9). Calls not yet carried out vanish. An append under way may
  // leave a prefix; another call under way may be carried out or not. All else stays: the system's cache
  // outlives processes. Their Envs get no further answers; the caller destroys them.
  void ProcessCrash();
  // The same, and the cache is lost. A random number of each file's unsynced appends survives, perhaps with a
  // part of the next. Each name made, renamed or removed since the last SyncFolder that covers it may be
  // undone.
  void PowerLoss();

  // From now on every call takes `factor` times as long.
  void set_slow(double factor) { slow_ = factor; }
  // May fall below the bytes in use: then every append that has bytes is answered with kResourceExhausted.
  void set_capacity_bytes(std::uint64_t bytes) { options_.capacity_bytes = bytes; }
  // The append that follows `appends` further ones fills the disk with this part of its bytes: it sets the
  // capacity. For tests that try every write of a job.
  void FillUpAfter(std::uint64_t appends, double part) {
    fill_up_ = FillUp{counters_.appends + appends, part};
  }
  [[nodiscard]] const DiskCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t bytes() const { return tree_.bytes(); }
  // Size of one file; 0 if it does not exist.
  [[nodiscard]] std::uint64_t bytes(const std::string& path) const { return tree_.bytes(path); }

  // The calls of Storage, and their answers.
  Status Write(const std::string& path, const std::vector<Pinned>& data, FileTree::IfThere if_there);
  Status Append(const std::string& path, const std::vector<Pinned>& data) {
    return Write(path, data, FileTree::IfThere::kAppend);
  }
  Status Sync(const std::string& path);
  Status SyncFolder(const std::string& path);
  Status Rename(const std::string& from, const std::string& to);
  Status Remove(const std::string& path);
  [[nodiscard]] Result<std::vector<std::byte>> Read(const std::string& path, std::uint64_t offset,
                                                    std::uint64_t bytes) const;
  [[nodiscard]] Result<std::vector<Storage::Entry>> List(const std::string& path) const;

  // For SimStorage: a process on the host, in the order in which crashes reach them.
  class Process {
   public:
    virtual ~Process() = default;
    virtual void OnCrash() = 0;
  };
  void Attach(Process* process) { processes_.push_back(process); }
  void Detach(Process* process) { std::erase(processes_, process); }
  // Storage::Lock for this process; Unlock drops all its locks.
  Status Lock(const std::string& path, const Process* owner);
  [[nodiscard]] Status CheckUnlocked(const std::string& path, const Process* asks) const;
  void Unlock(const Process* owner) {
    std::erase_if(locks_, [owner](const auto& lock) { return lock.second == owner; });
  }
  // Returns when a call that is made now will be carried out. The disk serves one call after another.
  [[nodiscard]] Duration Occupy(Duration now, bool sync, std::uint64_t bytes);
  // The process dies inside a write: none, a part or all of it is there.
  void Tear(const std::string& path, const std::vector<Pinned>& data, FileTree::IfThere if_there);
  // The process dies inside another call: returns whether it was carried out.
  [[nodiscard]] bool WasCarriedOut() { return crashes_.Chance(0.5); }
  void NoteDropped(std::uint64_t calls) { counters_.dropped_calls += calls; }

 private:
  // Writes the first `bytes_max` bytes.
  [[nodiscard]] int WriteFirst(const std::string& path, const std::vector<Pinned>& data,
                               FileTree::IfThere if_there, std::uint64_t bytes_max);

  struct FillUp {
    std::uint64_t at;
    double part;
  };

  DiskOptions options_;
  std::optional<FillUp> fill_up_;
  SeededRandom timing_;
  SeededRandom crashes_;
  double slow_ = 1;
  Duration busy_until_{0};
  FileTree tree_;
  DiskCounters counters_;
  std::vector<Process*> processes_;
  std::map<std::string, const Process*> locks_;  // by path: the holder
};

}  // namespace leeway::sim
