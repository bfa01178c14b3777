#include "node/scheduler/restore_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace leeway {

void RestorePoint::BeginFrom(const Manifest& manifest, const std::string& folder) {
  last_ = {manifest, folder, false};
  log_.Write(LogLevel::kInfo, fmt::format("the job goes on in iteration {} from checkpoint {} at {}",
                                          manifest.iteration.value(), manifest.checkpoint, folder));
  if (manifest.exact || manifest.begins.empty()) return;
  log_.Write(
      LogLevel::kWarning,
      fmt::format(
          "checkpoint {} is fuzzy: its blocks are of different moments. Each rank goes on where its own "
          "pushes end, in iterations {} to {}; {} pushes that blocks do not have count as lost",
          manifest.checkpoint, std::ranges::min(manifest.begins).value(),
          std::ranges::max(manifest.begins).value(), manifest.lost));
}

void RestorePoint::OnWhole(const Manifest& manifest, const std::string& folder) {
  last_ = {manifest, folder, true};
  unread_.clear();
}

void RestorePoint::Find(std::vector<std::string> folders, const std::function<void()>& then) {
  std::ranges::reverse(folders);
  ReadNext(std::move(folders), then);
}

void RestorePoint::ReadNext(std::vector<std::string> folders, const std::function<void()>& then) {
  const bool own = !folders.empty();
  const std::string folder = own ? folders.back() : resumed_from_;
  if (folder.empty()) return then();
  if (own) folders.pop_back();
  files_.Read(folder, [this, own, folder, folders = std::move(folders), then](const Result<Manifest>& read) {
    if (stopped_) return;
    if (read.ok()) last_ = {*read, folder, own};
    if (!read.ok() && (!own || read.status().code() != StatusCode::kNotFound)) {
      if (unread_.empty()) unread_ = fmt::format("{}: {}", folder, read.status().message());
      log_.Write(LogLevel::kError,
                 fmt::format("a checkpoint to replace servers from cannot be read: {}: {}; until another is "
                             "whole, a server that is lost goes on from an older one, or ends the job",
                             folder, read.status().message()));
    }
    if (read.ok() || !own) return then();
    ReadNext(folders, then);
  });
}

bool RestorePoint::MayReplace(bool trained) const {
  if (on_server_loss_ == OnServerLoss::kFail) return false;
  if (last_) return true;
  // A checkpoint that cannot be read now holds values that an empty block would not have.
  const bool began_empty = resumed_from_.empty() && unread_.empty();
  return began_empty && !trained;
}

Result<std::size_t> RestorePoint::Replace(ShardId shard, TableRegistry& tables) const {
  if (!last_) return tables.Empty(shard);
  return tables.Patch(shard, last_->manifest, last_->folder, last_->of_this_run);
}

std::string RestorePoint::Describe(Iteration fastest) const {
  if (!last_) return "begin empty, as nobody has trained yet";
  return fmt::format("go on from checkpoint {} of iteration {} (the fastest worker is in {}){}",
                     last_->manifest.checkpoint, last_->manifest.iteration.value(), fastest.value(),
                     unread_.empty() ? "" : fmt::format("; a newer one could not be read: {}", unread_));
}

Status RestorePoint::LostServer(const ShardSeat& seat, const std::string& what) const {
  std::string resume = "no checkpoint was written to resume from";
  if (last_) resume = fmt::format("resume from {}", last_->folder);
  if (!unread_.empty()) {
    resume = fmt::format("{} could not be read: {}",
                         last_ ? resume + "; a newer checkpoint" : "the last checkpoint", unread_);
  }
  return Unavailable("server {} shard {} at {} {}; {}", seat.server.value(), seat.shard, seat.address, what,
                     resume);
}

void RestorePoint::AddTo(wire::pb::LoggedJob& job) const {
  // A checkpoint that could not be read this time may be the next.
  if (!last_) job.set_resumed_from(resumed_from_);
  if (last_ && !last_->of_this_run) job.set_resumed_from(last_->folder);
}

}  // namespace leeway
