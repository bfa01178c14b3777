// FileTree: files and folders of one simulated machine, and the part of them that would survive a power
// failure.
//
// Every call is carried out at once and answers as POSIX does: 0 or an errno value. Beside the files as
// processes see them the tree knows the synced bytes of each file, and the changes of names that no
// SyncFolder has covered yet. Files only ever grow, so the safe part of a file is a prefix. Paths are names
// joined by '/'; relative ones start at the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leeway/ids.h"
#include "leeway/storage.h"
#include "sim/seeded_random.h"

namespace leeway::sim {

// The losses of a power failure.
struct PowerLossCounters {
  std::uint64_t lost_bytes = 0;        // appended, and not synced
  std::uint64_t torn_files = 0;        // files that end inside an append
  std::uint64_t undone_renames = 0;    // ... of which no SyncFolder was told
  std::uint64_t undone_creations = 0;  // of files and folders
  std::uint64_t undone_removals = 0;
};

class FileTree {
 public:
  FileTree();

  // Appends the part of `data` that fits into `room` bytes; ENOSPC if it does not all fit. EEXIST if the file
  // must be new and exists.
  enum class IfThere : std::uint8_t { kAppend, kError };
  int Append(const std::string& path, const std::vector<std::span<const std::byte>>& data, std::uint64_t room,
             IfThere if_there = IfThere::kAppend);
  int Sync(const std::string& path);
  int SyncFolder(const std::string& path);
  int Rename(const std::string& from, const std::string& to);
  int Remove(const std::string& path);
  int Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes,
           std::vector<std::byte>& data) const;
  int List(const std::string& path, std::vector<Storage::Entry>& entries) const;
  // Size of one file; 0 if it does not exist.
  [[nodiscard]] std::uint64_t bytes(const std::string& path) const;
  // Of all files that have a name.
  [[nodiscard]] std::uint64_t bytes() const { return BytesBelow(kRoot); }

  // A random number of each file's unsynced appends survives, and perhaps a part of the next. Each change of
  // a name that no SyncFolder covered is undone or kept at random. A change is undone with every change that
  // it builds on, so a renamed file has its old name or its new one, never both or neither. Everything that
  // survives is safe.
  void LosePower(SeededRandom& random, PowerLossCounters& counters);

 private:
  using NodeId = StrongInt<struct FileNodeTag, std::uint64_t>;  // 0: no node
  using Names = std::map<std::string, NodeId>;
  static constexpr NodeId kRoot{1};

  struct Node {
    bool folder = false;
    Names names;                  // a folder, as processes see it
    Names safe_names;             // and as a loss of power would leave it with every pending change undone
    std::vector<std::byte> data;  // a file
    std::uint64_t synced = 0;     // so many of its bytes are safe
    std::vector<std::uint64_t> ends;  // of the appends since
  };
  struct Name {  // a place in a folder
    NodeId folder;
    std::string name;
    auto operator<=>(const Name&) const = default;
  };
  struct Change {  // of names: the unit that a loss of power undoes or leaves
    enum class Kind : std::uint8_t { kCreation, kRename, kRemoval };
    Kind kind{};
    std::vector<std::pair<Name, NodeId>> sets;  // a place, and its node after the change
    NodeId moved;                               // the node that it made or moved; 0 for a removal
    std::vector<NodeId> within;                 // folders on the way to those places
    std::set<NodeId> unsynced;                  // folders whose SyncFolder it still waits for
  };
  // The places and nodes (made or moved) that a dropped or settled change affects.
  struct Touched {
    std::set<Name> names;
    std::set<NodeId> nodes;
    void Add(const Change& change);
    [[nodiscard]] bool Meets(const Change& change) const;
    [[nodiscard]] bool MeetsWithin(const Change& change) const;
  };
  // The place of a path, and its node (0: nothing is there).
  struct Place {
    Name name;  // of the root: nowhere
    NodeId node;
    std::vector<NodeId> folders;  // from the root to the folder of the place
  };
  [[nodiscard]] int Find(std::span<const std::string> path, Place& place) const;
  [[nodiscard]] int FindExisting(const std::string& path, bool folder, NodeId& id) const;
  [[nodiscard]] NodeId Make(const Place& place, bool folder);
  [[nodiscard]] static int MayReplace(const Node& from, const Node& to);
  void RemoveAll(const Place& place);
  void Note(Change change);
  void Settle(const Change& change);
  static void Cut(Node& file, SeededRandom& random, PowerLossCounters& counters);
  // Forgets nodes that no name leads to, and pending changes in folders that are gone for good.
  void Sweep();
  [[nodiscard]] std::uint64_t BytesBelow(NodeId id) const;

  std::map<NodeId, Node> nodes_;
  std::vector<Change> pending_;  // in the order in which they were made
  std::uint64_t last_ = 1;
};

}  // namespace leeway::sim
