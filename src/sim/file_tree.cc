#include "sim/file_tree.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace leeway::sim {
namespace {

constexpr std::size_t kNameBytesMax = 255;  // NAME_MAX of Linux

// The names of the path, with "." and ".." resolved textually: the tree has no links.
std::vector<std::string> Split(const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (name == "..") {
      if (!names.empty()) names.pop_back();
    } else if (!name.empty() && name != ".") {
      names.push_back(name);
    }
    begin = end + 1;
  }
  return names;
}

}  // namespace

FileTree::FileTree() { nodes_[kRoot].folder = true; }

int FileTree::Find(std::span<const std::string> path, Place& place) const {
  place = {{}, kRoot, {}};
  for (const std::string& name : path) {
    if (place.node == NodeId()) return ENOENT;
    if (!nodes_.at(place.node).folder) return ENOTDIR;
    if (name.size() > kNameBytesMax) return ENAMETOOLONG;
    const Names& names = nodes_.at(place.node).names;
    const auto found = names.find(name);
    place.folders.push_back(place.node);
    place.name = {place.node, name};
    place.node = found == names.end() ? NodeId() : found->second;
  }
  return 0;
}

int FileTree::FindExisting(const std::string& path, bool folder, NodeId& id) const {
  Place place;
  if (const int error = Find(Split(path), place); error != 0) return error;
  if (place.node == NodeId()) return ENOENT;
  if (nodes_.at(place.node).folder != folder) return folder ? ENOTDIR : EISDIR;
  id = place.node;
  return 0;
}

FileTree::NodeId FileTree::Make(const Place& place, bool folder) {
  const NodeId id(++last_);
  nodes_[id].folder = folder;
  Note({Change::Kind::kCreation, {{place.name, id}}, id, place.folders, {}});
  return id;
}

int FileTree::Append(const std::string& path, const std::vector<std::span<const std::byte>>& data,
                     std::uint64_t room, IfThere if_there) {
  const std::vector<std::string> names = Split(path);
  Place place;
  if (if_there == IfThere::kError && Find(names, place) == 0 && place.node != NodeId()) return EEXIST;
  for (std::size_t depth = 1; depth <= names.size(); ++depth) {
    if (const int error = Find(std::span(names).first(depth), place); error != 0) return error;
    if (place.node == NodeId()) place.node = Make(place, depth < names.size());
  }
  Node& file = nodes_.at(place.node);
  if (file.folder || path.back() == '/') return EISDIR;
  const std::size_t before = file.data.size();
  bool fits = true;
  for (const std::span<const std::byte> piece : data) {
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), room));
    file.data.insert(file.data.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(taken));
    room -= taken;
    fits = fits && taken == piece.size();
  }
  if (file.data.size() > before) file.ends.push_back(file.data.size());
  return fits ? 0 : ENOSPC;
}

int FileTree::Sync(const std::string& path) {
  NodeId id;
  if (const int error = FindExisting(path, false, id); error != 0) return error;
  Node& file = nodes_.at(id);
  file.synced = file.data.size();
  file.ends.clear();
  return 0;
}

int FileTree::SyncFolder(const std::string& path) {
  NodeId id;
  if (const int error = FindExisting(path, true, id); error != 0) return error;
  // From the last to the first: a settled change settles every change that it builds on, as a journal would.
  // A rename settles the creation of its target folder too, or the file would be nowhere.
  Touched needed;
  std::vector<bool> settled(pending_.size());
  for (std::size_t i = pending_.size(); i-- > 0;) {
    Change& change = pending_[i];
    change.unsynced.erase(id);
    settled[i] = change.unsynced.empty() || needed.Meets(change);
    if (!settled[i]) continue;
    needed.Add(change);
    if (change.kind == Change::Kind::kRename) needed.nodes.insert(change.within.begin(), change.within.end());
  }
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (settled[i]) Settle(pending_[i]);
  }
  std::size_t i = 0;
  std::erase_if(pending_, [&](const Change&) { return settled[i++]; });
  Sweep();
  return 0;
}

int FileTree::MayReplace(const Node& from, const Node& to) {
  if (from.folder != to.folder) return from.folder ? ENOTDIR : EISDIR;
  return to.names.empty() ? 0 : ENOTEMPTY;
}

int FileTree::Rename(const std::string& from, const std::string& to) {
  Place source;
  Place target;
  if (const int error = Find(Split(from), source); error != 0) return error;
  if (source.node == NodeId()) return ENOENT;
  if (const int error = Find(Split(to), target); error != 0) return error;
  if (source.node == kRoot || target.node == kRoot) return EBUSY;
  if (source.node == target.node) return 0;
  if (std::count(target.folders.begin(), target.folders.end(), source.node) > 0) return EINVAL;
  if (target.node != NodeId()) {
    if (const int error = MayReplace(nodes_.at(source.node), nodes_.at(target.node)); error != 0)
      return error;
  }
  std::vector<NodeId> within = source.folders;
  within.insert(within.end(), target.folders.begin(), target.folders.end());
  Note({Change::Kind::kRename,
        {{source.name, NodeId()}, {target.name, source.node}},
        source.node,
        std::move(within),
        {}});
  return 0;
}

int FileTree::Remove(const std::string& path) {
  Place place;
  const int error = Find(Split(path), place);
  if (error == ENOENT || error == ENOTDIR || (error == 0 && place.node == NodeId())) return 0;
  if (error != 0) return error;
  if (place.node == kRoot) return EINVAL;
  RemoveAll(place);
  return 0;
}

void FileTree::RemoveAll(const Place& place) {
  const Names below = nodes_.at(place.node).names;
  std::vector<NodeId> folders = place.folders;
  folders.push_back(place.node);
  for (const auto& [name, node] : below) RemoveAll({{place.node, name}, node, folders});
  Note({Change::Kind::kRemoval, {{place.name, NodeId()}}, NodeId(), place.folders, {}});
}

int FileTree::Read(const std::string& path, std::uint64_t offset, std::uint64_t bytes,
                   std::vector<std::byte>& data) const {
  NodeId id;
  if (const int error = FindExisting(path, false, id); error != 0) return error;
  const std::vector<std::byte>& all = nodes_.at(id).data;
  const std::uint64_t begin = std::min<std::uint64_t>(offset, all.size());
  const std::uint64_t count = std::min<std::uint64_t>(bytes, all.size() - begin);
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  data.assign(first, first + static_cast<std::ptrdiff_t>(count));
  return 0;
}

int FileTree::List(const std::string& path, std::vector<Storage::Entry>& entries) const {
  NodeId id;
  if (const int error = FindExisting(path, true, id); error != 0) return error;
  for (const auto& [name, child] : nodes_.at(id).names) {
    const Node& node = nodes_.at(child);
    entries.push_back({name, node.data.size(), node.folder});
  }
  return 0;
}

void FileTree::Touched::Add(const Change& change) {
  for (const auto& [name, node] : change.sets) names.insert(name);
  if (change.moved != NodeId()) nodes.insert(change.moved);
}

bool FileTree::Touched::Meets(const Change& change) const {
  const auto meets = [this](const auto& set) { return names.contains(set.first); };
  return nodes.contains(change.moved) || std::any_of(change.sets.begin(), change.sets.end(), meets);
}

bool FileTree::Touched::MeetsWithin(const Change& change) const {
  const auto meets = [this](NodeId folder) { return nodes.contains(folder); };
  return std::any_of(change.within.begin(), change.within.end(), meets);
}

void FileTree::Note(Change change) {
  for (const auto& [name, node] : change.sets) {
    Names& names = nodes_.at(name.folder).names;
    if (node == NodeId()) {
      names.erase(name.name);
    } else {
      names[name.name] = node;
    }
    change.unsynced.insert(name.folder);
  }
  pending_.push_back(std::move(change));
}

void FileTree::Settle(const Change& change) {
  for (const auto& [name, node] : change.sets) {
    Names& names = nodes_.at(name.folder).safe_names;
    if (node != NodeId()) {
      names[name.name] = node;
      continue;
    }
    const auto gone = names.find(name.name);
    if (gone == names.end()) continue;
    // No call can sync a folder that is gone for good: changes stop waiting for it.
    if (change.kind == Change::Kind::kRemoval) {
      for (Change& other : pending_) other.unsynced.erase(gone->second);
    }
    names.erase(gone);
  }
}

void FileTree::LosePower(SeededRandom& random, PowerLossCounters& counters) {
  Touched undone;
  for (const Change& change : pending_) {
    const bool drop = random.Chance(0.5) || undone.Meets(change) || undone.MeetsWithin(change);
    if (!drop) {
      Settle(change);
      continue;
    }
    undone.Add(change);
    switch (change.kind) {
      case Change::Kind::kCreation:
        ++counters.undone_creations;
        break;
      case Change::Kind::kRename:
        ++counters.undone_renames;
        break;
      case Change::Kind::kRemoval:
        ++counters.undone_removals;
        break;
    }
  }
  pending_.clear();
  for (auto& [id, node] : nodes_) node.names = node.safe_names;
  Sweep();
  for (auto& [id, node] : nodes_) {
    if (!node.ends.empty()) Cut(node, random, counters);
  }
}

void FileTree::Cut(Node& file, SeededRandom& random, PowerLossCounters& counters) {
  const std::uint64_t whole = random.Below(file.ends.size() + 1);
  std::uint64_t left = whole == 0 ? file.synced : file.ends[whole - 1];
  if (whole < file.ends.size() && random.Chance(0.5)) {
    const std::uint64_t piece = file.ends[whole] - left;
    if (piece > 1) {
      left += random.Between(1, piece - 1);
      ++counters.torn_files;
    }
  }
  counters.lost_bytes += file.data.size() - left;
  file.data.resize(left);
  file.synced = left;
  file.ends.clear();
}

std::uint64_t FileTree::bytes(const std::string& path) const {
  NodeId id;
  return FindExisting(path, false, id) == 0 ? nodes_.at(id).data.size() : 0;
}

std::uint64_t FileTree::BytesBelow(NodeId id) const {
  const Node& node = nodes_.at(id);
  std::uint64_t bytes = node.data.size();
  for (const auto& [name, child] : node.names) bytes += BytesBelow(child);
  return bytes;
}

void FileTree::Sweep() {
  // A pending change links each of its folders to the other and to the node it puts there.
  std::multimap<NodeId, NodeId> leads;
  for (const Change& change : pending_) {
    for (const auto& [name, node] : change.sets) {
      for (const auto& [other, its_node] : change.sets) {
        leads.emplace(name.folder, other.folder);
        leads.emplace(name.folder, its_node);
      }
    }
  }
  std::set<NodeId> reached;
  std::vector<NodeId> next{kRoot};
  while (!next.empty()) {
    const NodeId id = next.back();
    next.pop_back();
    if (id == NodeId() || !reached.insert(id).second) continue;
    const Node& node = nodes_.at(id);
    for (const auto& [name, child] : node.names) next.push_back(child);
    for (const auto& [name, child] : node.safe_names) next.push_back(child);
    for (auto [at, end] = leads.equal_range(id); at != end; ++at) next.push_back(at->second);
  }
  std::erase_if(pending_, [&](const Change& change) {
    return std::none_of(change.sets.begin(), change.sets.end(),
                        [&](const auto& set) { return reached.contains(set.first.folder); });
  });
  std::erase_if(nodes_, [&](const auto& entry) { return !reached.contains(entry.first); });
}

}  // namespace leeway::sim
