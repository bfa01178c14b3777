#include "role/checkpoint_flags.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "checkpoint/layout.h"
#include "inspect/checkpoint_folder.h"
#include "inspect/verify.h"
#include "transport/file_place.h"

namespace leeway::app {

Result<std::string> ResolveLink(std::string_view flag, const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kLinksMax = 40;  // as many as Linux follows
  std::error_code error;
  fs::path at = fs::absolute(path, error);
  for (int links = 0; links < kLinksMax && !error; ++links) {
    // A path that ends in "." or ".." names a folder by another's name; a slash at the end names nothing.
    if (at.filename() == "." || at.filename() == "..") at = fs::weakly_canonical(at, error);
    if (!at.has_filename() && at.has_relative_path()) at = at.parent_path();
    if (!fs::is_symlink(fs::symlink_status(at, error))) return at.string();
    const fs::path target = fs::read_symlink(at, error);
    at = at.parent_path() / target;
  }
  return InvalidArgument("{}: got \"{}\", wanted a folder or a link to one{}{}", flag, path,
                         error ? ": " : " (it is one of a ring of links)", error ? error.message() : "");
}

void DeclareCheckpointFlags(FlagSet& flags, CheckpointOptions& options) {
  flags.Text("--checkpoint-dir", "FOLDER", options.folder,
             "write checkpoints here: as the next two flags say, on request, and at SIGTERM; all processes "
             "must see the folder");
  flags.Number("--checkpoint-every", "N", options.every_iterations, 0, 1ULL << 40,
               "write a checkpoint every N iterations; 0: not by iterations");
  flags.Time("--checkpoint-time", options.every, "write a checkpoint at this interval; 0s: not by time");
  flags.Number("--checkpoint-keep", "N", options.keep, 1, 1'000'000, "keep the newest N");
  flags.Text("--resume", "PATH", options.resume,
             "resume from this checkpoint, or from the newest good one in this folder");
}

void DeclareGraceFlag(FlagSet& flags, std::chrono::milliseconds& grace) {
  flags.Time(
      "--grace", grace,
      "how long SIGTERM waits for a checkpoint (with --checkpoint-dir), and Ctrl-C of leeway run for the "
      "scripts to end; 0s: not at all");
}

Status TakeCheckpointFlags(CheckpointOptions& options) {
  if (options.folder.empty()) {
    const char* asked = options.every_iterations > 0 ? "--checkpoint-every"
                        : options.every.count() > 0  ? "--checkpoint-time"
                                                     : nullptr;
    if (asked != nullptr) return InvalidArgument("{}: wanted --checkpoint-dir FOLDER with it", asked);
    return Status::Ok();
  }
  LW_ASSIGN_OR_RETURN(const std::string folder, ResolveLink("--checkpoint-dir", options.folder));
  if (MakePrivateFolders(folder) != 0 || access(folder.c_str(), W_OK | X_OK) != 0) {
    return InvalidArgument("--checkpoint-dir: got \"{}\", wanted a folder that can be written to",
                           options.folder);
  }
  options.folder = folder;
  return Status::Ok();
}

Status ChooseResume(CheckpointOptions& options, const std::function<void(const std::string&)>& say) {
  if (options.resume.empty()) return Status::Ok();
  const Result<std::vector<CheckpointPath>> found = FindCheckpoints(options.resume);
  if (!found.ok()) return found.status().WithContext("--resume");
  std::string bad;
  for (auto at = found->rbegin(); at != found->rend(); ++at) {
    if (!at->complete) continue;
    const Verified verified = VerifyCheckpoint(at->path);
    if (verified.problems.empty()) {
      // Its folder as well, whose lock is looked at.
      LW_ASSIGN_OR_RETURN(const std::filesystem::path own, ResolveLink("--resume", at->path));
      LW_ASSIGN_OR_RETURN(const std::string folder, ResolveLink("--resume", own.parent_path().string()));
      options.resume = JoinPath(folder, own.filename().string());
      // One that took the place of a bad one is named; whoever asked for it by name knows.
      if (!bad.empty()) say(fmt::format("goes on from checkpoint {} instead", at->path));
      return Status::Ok();
    }
    bad = fmt::format("checkpoint {} cannot be used: {}", at->path, verified.problems.front());
    say(bad);
  }
  if (!bad.empty()) return InvalidArgument("--resume: {}", bad);
  return NotFound("--resume: {} holds no whole checkpoint", options.resume);
}

}  // namespace leeway::app
