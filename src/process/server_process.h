// ServerProcess: all shards of one server over the real Env, one thread each.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "assembly/assembly.h"
#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {

struct ServerCounters {
  BlockCounters blocks;    // sums over all blocks
  std::uint64_t dprs = 0;  // delayed pull requests, one for each shard, worker and iteration
};

class ServerProcess {
 public:
  // Starts shards 0 .. shards - 1; ignores `options.shard` and `options.shards`.
  // REQUIRES: `log` and `policies` outlive it.
  static Result<std::unique_ptr<ServerProcess>> Start(const ServerOptions& options, std::uint32_t shards,
                                                      const Policies& policies, Log& log);
  virtual ~ServerProcess() = default;
  // Sums over all shards whose threads answer. Thread rule: any thread.
  [[nodiscard]] virtual ServerCounters counters() = 0;
  virtual void Stop() = 0;
  // Waits until every shard has ended (the first error counts), at most `limit` (kDeadlineExceeded then; may
  // be called again).
  virtual Status Wait(std::chrono::milliseconds limit) = 0;
};

}  // namespace leeway
