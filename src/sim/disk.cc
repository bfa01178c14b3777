#include "sim/disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/errors.h"
#include "base/file_error.h"
#include "base/hash.h"

namespace leeway::sim {
namespace {

enum DiskStream : std::uint64_t { kCallTimes = 1, kCrashes };

std::uint64_t BytesOf(const std::vector<Pinned>& data) {
  std::uint64_t bytes = 0;
  for (const Pinned& piece : data) bytes += piece.bytes.size();
  return bytes;
}

}  // namespace

DiskCounters& DiskCounters::operator+=(const DiskCounters& other) {
  appends += other.appends;
  full_answers += other.full_answers;
  dropped_calls += other.dropped_calls;
  torn_appends += other.torn_appends;
  power.lost_bytes += other.power.lost_bytes;
  power.torn_files += other.power.torn_files;
  power.undone_renames += other.power.undone_renames;
  power.undone_creations += other.power.undone_creations;
  power.undone_removals += other.power.undone_removals;
  return *this;
}

Disk::Disk(const DiskOptions& options, std::uint64_t seed)
    : options_(options), timing_(Hash64({seed, kCallTimes})), crashes_(Hash64({seed, kCrashes})) {}

void Disk::ProcessCrash() {
  for (Process* process : processes_) process->OnCrash();
}

void Disk::PowerLoss() {
  ProcessCrash();
  tree_.LosePower(crashes_, counters_.power);
  busy_until_ = Duration::zero();
}

Duration Disk::Occupy(Duration now, bool sync, std::uint64_t bytes) {
  const auto latency = static_cast<double>((sync ? options_.sync_latency : options_.call_latency).count());
  const double transfer = static_cast<double>(bytes) * 1e9 / static_cast<double>(options_.bytes_per_second);
  const double around = 0.5 + UnitInterval(timing_.Next());
  busy_until_ = std::max(now, busy_until_) +
                Duration(static_cast<Duration::rep>(slow_ * around * (latency + transfer)));
  return busy_until_;
}

int Disk::WriteFirst(const std::string& path, const std::vector<Pinned>& data, FileTree::IfThere if_there,
                     std::uint64_t bytes_max) {
  std::uint64_t room = bytes_max;
  if (options_.capacity_bytes != std::numeric_limits<std::uint64_t>::max()) {
    const std::uint64_t used = tree_.bytes();
    room = std::min(room, options_.capacity_bytes - std::min(used, options_.capacity_bytes));
  }
  std::vector<std::span<const std::byte>> pieces;
  pieces.reserve(data.size());
  for (const Pinned& piece : data) pieces.push_back(piece.bytes);
  return tree_.Append(path, pieces, room, if_there);
}

Status Disk::Write(const std::string& path, const std::vector<Pinned>& data, FileTree::IfThere if_there) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  if (fill_up_ && fill_up_->at == counters_.appends) {
    const auto part = static_cast<std::uint64_t>(fill_up_->part * static_cast<double>(BytesOf(data)));
    options_.capacity_bytes = tree_.bytes() + part;
  }
  ++counters_.appends;
  const int error = WriteFirst(path, data, if_there, std::numeric_limits<std::uint64_t>::max());
  if (error == ENOSPC) ++counters_.full_answers;
  const bool create = if_there == FileTree::IfThere::kError;
  return FileError(error, fmt::format("cannot {} \"{}\"", create ? "create" : "append to", path));
}

void Disk::Tear(const std::string& path, const std::vector<Pinned>& data, FileTree::IfThere if_there) {
  const std::uint64_t all = BytesOf(data);
  const std::uint64_t part = crashes_.Between(0, all);
  // Leaves nothing of the write: not even the file, if it is new.
  if (!CheckPath(path).ok() || (part == 0 && crashes_.Chance(0.5))) return;
  if (part > 0 && part < all) ++counters_.torn_appends;
  // The process is dead, so the result goes nowhere.
  static_cast<void>(WriteFirst(path, data, if_there, part));
}

Status Disk::CheckUnlocked(const std::string& path, const Process* asks) const {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const auto lock = locks_.find(path);
  if (lock == locks_.end() || lock->second == asks) return Status::Ok();
  return FailedPrecondition("cannot lock \"{}\": another process has it", path);
}

Status Disk::Lock(const std::string& path, const Process* owner) {
  LW_RETURN_IF_ERROR(CheckUnlocked(path, owner));
  const auto [lock, taken] = locks_.try_emplace(path, owner);
  if (!taken) return Status::Ok();
  const int error = WriteFirst(path, {}, FileTree::IfThere::kAppend, 0);
  if (error != 0) locks_.erase(lock);
  return FileError(error, fmt::format("cannot lock \"{}\"", path));
}

Status Disk::Sync(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  return FileError(tree_.Sync(path), fmt::format("cannot sync \"{}\"", path));
}

Status Disk::SyncFolder(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  return FileError(tree_.SyncFolder(path), fmt::format("cannot sync the folder \"{}\"", path));
}

Status Disk::Rename(const std::string& from, const std::string& to) {
  LW_RETURN_IF_ERROR(CheckPath(from));
  LW_RETURN_IF_ERROR(CheckPath(to));
  return FileError(tree_.Rename(from, to), fmt::format("cannot rename \"{}\" to \"{}\"", from, to));
}

Status Disk::Remove(const std::string& path) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  return FileError(tree_.Remove(path), fmt::format("cannot remove \"{}\"", path));
}

Result<std::vector<std::byte>> Disk::Read(const std::string& path, std::uint64_t offset,
                                          std::uint64_t bytes) const {
  LW_RETURN_IF_ERROR(CheckPath(path));
  std::vector<std::byte> data;
  LW_RETURN_IF_ERROR(
      FileError(tree_.Read(path, offset, bytes, data), fmt::format("cannot read \"{}\"", path)));
  return data;
}

Result<std::vector<Storage::Entry>> Disk::List(const std::string& path) const {
  LW_RETURN_IF_ERROR(CheckPath(path));
  std::vector<Storage::Entry> entries;
  LW_RETURN_IF_ERROR(FileError(tree_.List(path, entries), fmt::format("cannot list \"{}\"", path)));
  return entries;
}

}  // namespace leeway::sim
