#include "process/server_process.h"

#include <span>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "process/address_source.h"
#include "process/core_list.h"
#include "process/end_latch.h"
#include "process/node_thread.h"
#include "process/trace_file.h"

namespace leeway {
namespace {

// In the picture of a trace servers stand below the workers.
constexpr std::uint32_t kServersAfter = 1'000'000;

struct ShardThread {
  ShardThread(Log& log, bool bind_any, Carrier carrier) : thread(log, bind_any, carrier) {}
  NodeThread thread;
  std::unique_ptr<ServerNode> node;  // after thread: destroyed first, once the thread has stopped
  bool over = false;                 // its end was noted; on its thread only
};

class ServerThreads final : public ServerProcess {
 public:
  ServerThreads(std::uint32_t shards, std::unique_ptr<TraceFile> trace)
      : trace_(std::move(trace)), latch_(shards) {}

  ~ServerThreads() override {
    Stop();
    for (const std::unique_ptr<ShardThread>& shard : shards_) shard->thread.Stop();
  }

  Status StartShard(ServerOptions options, std::uint32_t index, std::span<const int> cores,
                    const Policies& policies, Log& log) {
    options.shard = index;
    LW_ASSIGN_OR_RETURN(const Carrier carrier, ParseCarrier(options.link.transport));
    ShardThread& shard = *shards_.emplace_back(std::make_unique<ShardThread>(log, options.bind_any, carrier));
    // shared: the task may outlive a call that ran into its limit
    auto started = std::make_shared<Status>(Internal("the thread of shard {} does not run", index));
    const int core = cores.empty() ? -1 : cores[index];
    const bool ran = shard.thread.Call([this, options, core, &shard, &policies, started, &log] {
      // An unpinned shard only loses a little speed.
      if (core >= 0) {
        if (const Status stays = StayOn(core); !stays.ok()) log.Write(LogLevel::kWarning, stays.message());
      }
      shard.thread.env().trace = trace_.get();
      shard.node = MakeServer(options, shard.thread.env(), policies, MakeAddressSource(options.scheduler),
                              [this, &shard](const Status& why) { NoteEnd(shard, why); });
      *started = shard.node->Start();
    });
    if (!ran) return Internal("server {} shard {}: its thread does not answer", options.server, index);
    return started->WithContext(fmt::format("server {} shard {}", options.server, index));
  }

  void Stop() override {
    for (const std::unique_ptr<ShardThread>& owned : shards_) {
      ShardThread& shard = *owned;
      shard.thread.Call([this, &shard] {
        if (shard.over || shard.node == nullptr) return;
        shard.node->Stop();
        NoteEnd(shard, Status::Ok());
      });
    }
  }

  ServerCounters counters() override {
    ServerCounters sum;
    for (const std::unique_ptr<ShardThread>& owned : shards_) {
      // shared: the task may outlive a call that ran into its limit
      auto of_shard = std::make_shared<ServerCounters>();
      const auto look = [&shard = *owned, of_shard] {
        if (shard.node != nullptr) *of_shard = {shard.node->counters(), shard.node->dprs()};
      };
      if (!owned->thread.Call(look)) continue;
      sum.blocks += of_shard->blocks;
      sum.dprs += of_shard->dprs;
    }
    return sum;
  }

  Status Wait(std::chrono::milliseconds limit) override { return latch_.Wait(limit); }

 private:
  void NoteEnd(ShardThread& shard, const Status& why) {
    if (std::exchange(shard.over, true)) return;
    latch_.End(why);
  }

  const std::unique_ptr<TraceFile> trace_;  // null: not wanted; outlives the shards
  EndLatch latch_;
  std::vector<std::unique_ptr<ShardThread>> shards_;
};

}  // namespace

Result<std::unique_ptr<ServerProcess>> ServerProcess::Start(const ServerOptions& options,
                                                            std::uint32_t shards, const Policies& policies,
                                                            Log& log) {
  if (shards == 0) return InvalidArgument("a server of {} shards, wanted at least 1", shards);
  LW_RETURN_IF_ERROR(CheckAddress(options.scheduler).WithContext("scheduler"));
  LW_ASSIGN_OR_RETURN(const std::vector<int> cores,
                      CoresOf(options.cores, options.server, shards, AllowedCores()));
  TraceFile::Names names{fmt::format("server {}", options.server), kServersAfter + options.server, {}};
  for (std::uint32_t shard = 0; shard < shards; ++shard)
    names.threads.emplace_back(1 + shard, fmt::format("shard {}", shard));
  LW_ASSIGN_OR_RETURN(std::unique_ptr<TraceFile> trace, TraceFile::Open(options.trace, names, log));
  auto process = std::make_unique<ServerThreads>(shards, std::move(trace));
  ServerOptions each = options;
  each.shards = shards;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    LW_RETURN_IF_ERROR(process->StartShard(each, shard, cores, policies, log));
  }
  return std::unique_ptr<ServerProcess>(std::move(process));
}

}  // namespace leeway
