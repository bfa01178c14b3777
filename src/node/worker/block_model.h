// BlockModel: what a worker knows of the synchronization of a block: its spec, and what the worker does by
// itself because of it.
//
// The scheduler names the policies in its table maps; each distinct pair of specs is parsed once and shared
// by all its blocks. Thread rule: the node's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/registry.h"
#include "leeway/status.h"
#include "leeway/sync_model.h"

namespace leeway {

struct BlockModel {
  std::string sync;  // its spec, for people; empty: not known
  WorkerRule rule;
  bool relay = false;               // answers carry means of gradients, or none
  bool drops_late = false;          // the block drops late pushes, so known late ones are not sent
  bool wants_significance = false;  // its conditions look at |g| / |w| of the pulling worker
};

using BlockModelRef = std::shared_ptr<const BlockModel>;  // shared by blocks, and forgotten with the last

class BlockModels {
 public:
  // Borrows `models` for its life.
  explicit BlockModels(const Registry<SyncModel>& models) : models_(models) {}

  // Empty specs: a model of which nothing is known, and an apply mode that is the model's own.
  [[nodiscard]] Result<BlockModelRef> Find(const std::string& sync, const std::string& apply);

 private:
  const Registry<SyncModel>& models_;
  std::map<std::pair<std::string, std::string>, BlockModelRef> known_;
};

}  // namespace leeway
