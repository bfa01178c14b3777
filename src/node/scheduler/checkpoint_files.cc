#include "node/scheduler/checkpoint_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/mutation.h"

namespace leeway {
namespace {

// A manifest of half a million blocks is below this.
constexpr std::uint64_t kManifestBytesMax = 512ULL << 20;

std::vector<Pinned> Owned(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {Pinned{std::as_bytes(std::span(*owner)), owner}};
}

// Members say which files they wrote. On another machine the scheduler may not see the same folder.
Status CheckThere(const Manifest& manifest, const std::string& folder,
                  const std::vector<Storage::Entry>& listed) {
  const auto check = [&](const std::string& name, std::uint64_t bytes) {
    const auto found = std::ranges::find(listed, name, &Storage::Entry::name);
    if (found != listed.end() && found->bytes == bytes) return Status::Ok();
    return FailedPrecondition(
        "{}: got {}, wanted {} bytes: workers, servers and the scheduler must see the same folder",
        JoinPath(folder, name), found == listed.end() ? "no such file" : fmt::format("{}", found->bytes),
        bytes);
  };
  for (const ManifestFile& file : manifest.files) LW_RETURN_IF_ERROR(check(file.name, file.bytes));
  for (const ManifestRank& rank : manifest.ranks) LW_RETURN_IF_ERROR(check(rank.file, rank.bytes));
  return Status::Ok();
}

}  // namespace

void CheckpointFiles::FindNext(const std::string& folder, std::function<void(Result<std::uint64_t>)> done) {
  storage_.List(folder, [done = std::move(done)](const Result<std::vector<Storage::Entry>>& listed) {
    if (!listed.ok() && listed.status().code() != StatusCode::kNotFound) return done(listed.status());
    done(listed.ok() ? NextCheckpointId(CheckpointIds(*listed)) : 1);
  });
}

void CheckpointFiles::Publish(const std::string& folder, const Manifest& manifest, Wanted wanted, Done done) {
  const std::string checkpoint = JoinPath(folder, CheckpointName(manifest.checkpoint));
  storage_.List(checkpoint, [this, folder, checkpoint, manifest, wanted = std::move(wanted),
                             done = std::move(done)](const Result<std::vector<Storage::Entry>>& listed) {
    if (!wanted()) return;
    const Status there = listed.ok() ? CheckThere(manifest, checkpoint, *listed) : listed.status();
    if (!there.ok()) return done(there);
    WriteAndRename(folder, checkpoint, manifest, wanted, done);
  });
}

void CheckpointFiles::WriteAndRename(const std::string& folder, const std::string& checkpoint,
                                     const Manifest& manifest, Wanted wanted, Done done) {
  const std::string temp =
      JoinPath(checkpoint, LW_MUTATED(manifest_in_place) ? kManifestName : kManifestTempName);
  // Issued in a row and carried out in order; the rename waits for all before it to have gone well, since it
  // is what makes the checkpoint one.
  const auto first = std::make_shared<Status>();  // shared by the answers: the first error
  const auto note = [first](const Status& status) {
    if (first->ok()) *first = status;
  };
  storage_.Create(temp, Owned(WriteManifest(manifest)), note);
  if (!LW_MUTATED(manifest_not_synced)) storage_.Sync(temp, note);
  storage_.SyncFolder(checkpoint, [this, folder, checkpoint, temp, first, note, wanted = std::move(wanted),
                                   done = std::move(done)](const Status& synced) {
    note(synced);
    if (!wanted()) return;
    if (!first->ok()) return done(*first);
    if (!LW_MUTATED(manifest_in_place)) storage_.Rename(temp, JoinPath(checkpoint, kManifestName), note);
    storage_.SyncFolder(checkpoint, note);
    storage_.SyncFolder(folder, [first, note, done](const Status& named) {
      note(named);
      done(*first);
    });
  });
}

struct CheckpointFiles::Pruning {
  std::string folder;
  std::size_t keep = 0;
  std::vector<std::uint64_t> ids;  // to be looked at, the last one first
  std::vector<FoundCheckpoint> found;
};

void CheckpointFiles::Prune(const std::string& folder, std::size_t keep) {
  storage_.List(folder, [this, folder, keep](const Result<std::vector<Storage::Entry>>& listed) {
    if (!listed.ok()) return Warn(folder, listed.status());
    auto pruning = std::make_shared<Pruning>();
    pruning->folder = folder;
    pruning->keep = keep;
    pruning->ids = CheckpointIds(*listed);
    PruneNext(std::move(pruning));
  });
}

void CheckpointFiles::PruneNext(std::shared_ptr<Pruning> pruning) {
  if (pruning->ids.empty()) {
    for (const std::uint64_t id : CheckpointsToRemove(pruning->found, pruning->keep)) {
      Discard(JoinPath(pruning->folder, CheckpointName(id)));
    }
    return;
  }
  const std::uint64_t id = pruning->ids.back();
  pruning->ids.pop_back();
  const std::string checkpoint = JoinPath(pruning->folder, CheckpointName(id));
  storage_.List(checkpoint,
                [this, pruning = std::move(pruning), id](const Result<std::vector<Storage::Entry>>& listed) {
                  if (listed.ok()) pruning->found.push_back({id, IsComplete(*listed)});
                  PruneNext(pruning);
                });
}

void CheckpointFiles::Discard(const std::string& checkpoint) {
  const auto warn = [this, checkpoint](const Status& status) {
    if (!status.ok() && status.code() != StatusCode::kNotFound) Warn(checkpoint, status);
  };
  // The manifest first: a removal that is cut short leaves no checkpoint with parts missing.
  storage_.Remove(JoinPath(checkpoint, kManifestName), warn);
  storage_.SyncFolder(checkpoint, warn);
  storage_.Remove(checkpoint, warn);
}

void CheckpointFiles::Read(const std::string& checkpoint, std::function<void(Result<Manifest>)> done) {
  const std::string path = JoinPath(checkpoint, kManifestName);
  storage_.Read(
      path, 0, kManifestBytesMax, [path, done = std::move(done)](const Result<std::vector<std::byte>>& read) {
        if (!read.ok()) return done(read.status());
        Result<Manifest> manifest = ReadManifest({reinterpret_cast<const char*>(read->data()), read->size()});
        if (!manifest.ok()) return done(manifest.status().WithContext(path));
        done(std::move(manifest));
      });
}

void CheckpointFiles::Warn(const std::string& what, const Status& why) {
  log_.Write(LogLevel::kWarning, fmt::format("removing old checkpoints: {}: {}", what, why.message()));
}

}  // namespace leeway
