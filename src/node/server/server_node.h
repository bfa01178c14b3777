// ServerNode: one shard of one server. Owns blocks; takes pushes and pulls; tells the scheduler how it fares.
//
// A single-threaded state machine over Env: it routes events between workers, the scheduler and its blocks.
// The files beside this one hold its parts: sessions, roster, landed frames, block store, outbox, alarms,
// figures.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "block/block.h"
#include "leeway/env.h"
#include "leeway/options.h"
#include "node/link.h"

namespace leeway {

// The policies a server can make blocks with; owned by the caller for the node's life.
struct ServerPolicies {
  const Registry<SyncModel>& sync;
  const Registry<Optimizer>& optimizers;
};

class ServerNode {
 public:
  // `ended` is called once: ok when the job is over, else why this shard cannot go on.
  ServerNode(const ServerOptions& options, Env& env, const ServerPolicies& policies, AddressSource scheduler,
             std::function<void(const Status&)> ended);
  ~ServerNode();

  // Listens, then registers with the scheduler.
  [[nodiscard]] Status Start();
  // Says goodbye and stops; `ended` is not called any more.
  void Stop();
  [[nodiscard]] const std::string& address() const;
  // For tests and status: the block if this shard owns it, else null.
  [[nodiscard]] const Block* FindBlock(BlockId id) const;
  [[nodiscard]] BlockCounters counters() const;  // summed over blocks

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace leeway
