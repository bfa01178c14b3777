// Storage and Compute: files as a node sees them, and jobs that would block its loop.
//
// Thread rule: as for Env. Every call returns at once. Its callback runs later on the node's thread, never
// from inside a call, and the implementation releases pins and captures on that thread too.
//
// Lifetime rule: calls cannot be cancelled. A call without an answer at the end of the Env never gets one. A
// node that may be destroyed before its Env lets its callbacks check that it still lives. The caller bounds
// the number of calls under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "leeway/pinned.h"
#include "leeway/status.h"

namespace leeway {

// A Storage carries calls out, and answers them, one after another in the order of the calls. So a caller may
// issue append, sync and rename in a row. A failed call does not stop the next ones: the caller checks each
// outcome. All later calls see the effect of a call, but the effect survives a power failure only after an ok
// Sync or SyncFolder that covers it. A process that dies loses the calls that were not yet carried out, and
// may leave a part of the append under way.
//
// Paths are names joined by '/'. One Env at a time writes a file. Only their owner may read or write new
// files and folders.
//
// A symbolic link is an error in the last two names of a file's path (its folder and itself), and in the last
// name of a folder's path. The reason: other users may write into the folder of a checkpoint, and a link
// could redirect our writes. Links in earlier names are followed. The caller resolves a path that a user
// gave.
//
// Errors name the path and the cause: kNotFound (no such file or folder), kResourceExhausted (disk full: a
// part of the append may be there), kInvalidArgument (an impossible name), kFailedPrecondition (not
// permitted, a link, a folder where a file was wanted, and the like), kUnavailable (the device failed).
class Storage {
 public:
  using Done = std::function<void(const Status&)>;
  struct Entry {
    std::string name;         // within the folder
    std::uint64_t bytes = 0;  // 0 for a folder
    bool folder = false;

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  virtual ~Storage() = default;
  // Creates the file and its missing folders, with these bytes. If anything has that name already, the call
  // fails with kFailedPrecondition and changes nothing. Otherwise as Append.
  virtual void Create(const std::string& path, std::vector<Pinned> data, Done done) = 0;
  // Appends to the file, creating it and its folders if missing; with no bytes it only creates them. A new
  // folder's name survives a power failure after a SyncFolder of its parent, as a file's does. `data` stays
  // pinned until the append was carried out; the pins drop before `done` runs.
  virtual void Append(const std::string& path, std::vector<Pinned> data, Done done) = 0;
  // After an ok `done`, all bytes appended before this call survive a power failure. The file's name does
  // not: that takes a SyncFolder of its folder. A failed Sync may have lost the bytes for good, even if later
  // ones say ok: start another file. kNotFound if there is no such file.
  //
  // If another Env removes a file that was written and not synced since, the file may keep its room on the
  // disk. A Sync, failed or not, and a failed write end that.
  virtual void Sync(const std::string& path, Done done) = 0;
  // After an ok `done`, names created, renamed or removed in this folder before this call survive a power
  // failure. This covers neither folders within it nor its own name. A rename between two folders takes a
  // SyncFolder of each. kNotFound if there is no such folder.
  virtual void SyncFolder(const std::string& path, Done done) = 0;
  // Replaces `to` if it exists; after a crash `to` is the old or the new file, never a mixture. The folder of
  // `to` must exist. A folder can replace only an empty folder.
  virtual void Rename(const std::string& from, const std::string& to, Done done) = 0;
  // Removes a file, or a folder with its contents. A missing path is no error.
  virtual void Remove(const std::string& path, Done done) = 0;
  // Reads up to `bytes` from `offset`: fewer where the file ends. kNotFound if there is no such file.
  virtual void Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes,
                    std::function<void(Result<std::vector<std::byte>>)> done) = 0;
  // Locks the file for this Env, creating it and its folders if missing, until the Env ends or its process
  // dies. Another Env that asks meanwhile gets kFailedPrecondition at once, with words that name the holder.
  // The holder may lock the file again. The lock is advisory, and it is the only call that two Envs may make
  // on one file at a time. The Storage writes the file's contents. kResourceExhausted: the file system has no
  // locks, or no room for this one.
  virtual void Lock(const std::string& path, Done done) = 0;
  // Answers kFailedPrecondition, as Lock does, if another Env holds the lock at this moment. Changes nothing;
  // a missing file is unlocked.
  virtual void CheckUnlocked(const std::string& path, Done done) = 0;
  // Lists the folder, sorted by name. kNotFound if there is no such folder.
  virtual void List(const std::string& path, std::function<void(Result<std::vector<Entry>>)> done) = 0;
};

// The size of a job, for an implementation that models its time.
struct JobSize {
  enum class Kind : std::uint8_t {
    kEncode,  // reads values and writes bytes to send or to keep
    kDecode,  // the reverse
  };
  Kind kind = Kind::kEncode;
  std::uint64_t bytes = 0;  // of the values
};

class Compute {
 public:
  virtual ~Compute() = default;
  // Runs `job` off the node's loop, one job after another in the order of the calls; then runs `done` on the
  // loop. A job is pure: it touches only its own captures, and no Env. The laziest correct implementation
  // (the simulator's) runs it inline, as an event of its own. The end of the Env waits for the job under way;
  // the jobs behind it never run.
  virtual void Run(std::function<void()> job, std::function<void()> done) = 0;
  // Does the same with a job that encodes or decodes values. The laziest correct implementation ignores the
  // size.
  virtual void RunSized(const JobSize& /*size*/, std::function<void()> job, std::function<void()> done) {
    Run(std::move(job), std::move(done));
  }
};

}  // namespace leeway
