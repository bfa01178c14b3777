// Storage and Compute: files as a node sees them, and work that would hold its loop up.
//
// Thread rule: that of Env. Every call returns at once; what it answers comes later on the node's thread,
// never from inside a call, and what was lent or captured is let go on that thread too. What has not been
// answered when the Env ends never is. Calls cannot be cancelled: a node that may go before its Env lets its
// callbacks find out. How much is under way is the caller's to bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "leeway/pinned.h"
#include "leeway/status.h"

namespace leeway {

// Calls are carried out one after another in the order in which they were made, and answered in that order,
// so append, sync and rename may be issued in a row. A call that failed does not stop those behind it: each
// outcome is its own to check. What was carried out is seen by all later calls, but survives a loss of power
// only once a Sync or SyncFolder that covers it said ok. A process that dies loses the calls that were not
// yet carried out, and may leave a part of the append that was under way.
//
// Paths are names joined by '/'. A file is written through one Env at a time. New files and folders are their
// owner's alone: nobody else may read or write them.
//
// A symbolic link is an error, not a way, in the last two names of a file's path (its folder and itself) and
// in the last name of a folder's: the folder of a checkpoint may be open to others, who could lead writes
// elsewhere. Names before those are followed. A path that a user gave is resolved before it comes here.
//
// Errors name the path and the cause: kNotFound (no such file or folder), kResourceExhausted (no room left:
// a part of the append may be there), kInvalidArgument (a name that cannot be one), kFailedPrecondition (not
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
  // Makes the file and its missing folders, with these bytes. The file must be new: kFailedPrecondition if
  // the name is taken, by whatever, and nothing changes then. Else as Append.
  virtual void Create(const std::string& path, std::vector<Pinned> data, Done done) = 0;
  // Appends to the file, making it and its folders if missing; with no bytes it only makes them. (A new
  // folder's name is safe after a SyncFolder of the folder that it is in, as a file's is.) `data` stays
  // pinned until the append was carried out, and is released before `done` is called.
  virtual void Append(const std::string& path, std::vector<Pinned> data, Done done) = 0;
  // What was appended to the file before this call is safe from a loss of power once `done` says ok. Its name
  // is not: that takes a SyncFolder of the folder that it is in. A Sync that failed may have lost what it was
  // to save, whatever later ones say: start another file. kNotFound if there is no such file.
  //
  // A file that was written to and not synced since may keep its room on the disk when another Env removes
  // it. After a Sync, whatever it says, and after a write that failed, it does not.
  virtual void Sync(const std::string& path, Done done) = 0;
  // Names that were made, renamed or removed in this folder before this call are safe once `done` says ok
  // (not those in folders within it, and not its own name). A rename between two folders takes a SyncFolder
  // of each. kNotFound if there is no such folder.
  virtual void SyncFolder(const std::string& path, Done done) = 0;
  // Replaces `to` if it is there; after a crash `to` is the old or the new, never a mixture. The folder of
  // `to` must be there. A folder replaces none but an empty folder.
  virtual void Rename(const std::string& from, const std::string& to, Done done) = 0;
  // Removes a file, or a folder with all that is in it. What is not there is no error.
  virtual void Remove(const std::string& path, Done done) = 0;
  // Up to `bytes` from `offset`: fewer where the file ends. kNotFound if there is no such file.
  virtual void Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes,
                    std::function<void(Result<std::vector<std::byte>>)> done) = 0;
  // Takes the file for this Env alone, making it and its folders if missing: until the Env ends, or its
  // process dies, another Env that asks is answered kFailedPrecondition at once, in words that say who has
  // it. Locking a file again by its holder succeeds. It keeps nobody from the file who does not ask, and is
  // the only thing that two Envs may do to one file at a time. What is in the file is the Storage's own.
  // kResourceExhausted: the file system has no locks, or has no room for this one.
  virtual void Lock(const std::string& path, Done done) = 0;
  // Whether another Env has the file locked at this moment: kFailedPrecondition then, as from Lock. Changes
  // nothing; a file that is not there is locked by nobody.
  virtual void CheckUnlocked(const std::string& path, Done done) = 0;
  // What is in the folder, sorted by name. kNotFound if there is no such folder.
  virtual void List(const std::string& path, std::function<void(Result<std::vector<Entry>>)> done) = 0;
};

class Compute {
 public:
  virtual ~Compute() = default;
  // Runs `job` off the node's loop, one job after another in the order of the calls; then `done` on the loop.
  // A job is pure: it touches nothing but what was given to it, and no Env. The laziest correct
  // implementation (the simulator's) runs it inline, as an event of its own. A job under way when the Env
  // ends is waited for, those behind it never run.
  virtual void Run(std::function<void()> job, std::function<void()> done) = 0;
};

}  // namespace leeway
