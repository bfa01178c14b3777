#include "launch/job_checkpoints.h"

#include <algorithm>
#include <vector>

#include "inspect/checkpoint_folder.h"

namespace leeway::app {

std::string FuzzyNote(const std::string& checkpoint) {
  const Result<Manifest> manifest = OpenManifest(checkpoint);
  if (!manifest.ok() || manifest->exact) return "";
  return " (fuzzy: its blocks are of different moments, so each rank goes on where its own pushes in it end, "
         "and pushes that only some blocks hold are reported as lost)";
}

JobCheckpoints::JobCheckpoints(const CheckpointOptions& options) : options_(options) {
  if (!enabled()) return;
  const Result<std::vector<CheckpointPath>> found = FindCheckpoints(options_.folder);
  if (!found.ok()) return;  // the folder has no checkpoint
  for (const CheckpointPath& at : *found) before_ = std::max(before_, at.id);
}

std::string JobCheckpoints::Newest() const {
  if (enabled()) {
    // (One may be removed while this looks: then there is a newer one, and the next look finds it.)
    for (int turn = 0; turn < 3; ++turn) {
      const Result<std::vector<CheckpointPath>> found = FindCheckpoints(options_.folder);
      if (!found.ok()) continue;
      for (auto at = found->rbegin(); at != found->rend(); ++at) {
        if (at->id > before_ && at->complete) return at->path;
      }
      break;
    }
  }
  return options_.resume;
}

}  // namespace leeway::app
