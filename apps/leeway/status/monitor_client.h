// MonitorClient: asks a scheduler for its status, again and again, for checkpoints and for other
// synchronization, on a thread of its own.
//
// Reconnects by itself, also to a scheduler that was started again elsewhere. All calls are for any thread.
// An interface: its one implementation needs protobuf, which stays out of this header.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leeway/status.h"

namespace leeway::app {

struct MonitorOptions {
  std::string scheduler;                 // "host:port", "local:NAME", or "file:PATH" that holds one of them
  std::string secret;                    // of the job; empty: it has none
  std::string job;                       // empty: whatever job it is
  std::chrono::milliseconds every{250};  // between statuses; 0: one, when it is connected
  std::chrono::milliseconds give_up_after{std::chrono::hours(24 * 365)};  // without an answer
};

// One life of a worker in the job.
struct WorkerLife {
  std::uint32_t rank = 0;
  std::uint64_t incarnation = 0;
  friend bool operator==(const WorkerLife&, const WorkerLife&) = default;
};

// The answer to a request for a checkpoint.
struct AskedCheckpoint {
  Status status;                 // ok: it is whole, or only asked for
  std::uint64_t checkpoint = 0;  // 0: only asked for
  std::int64_t iteration = -1;
  std::string folder;
};

// The answer to a request for a synchronization rule.
struct AskedSetSync {
  Status status;  // ok: every server has it
  std::uint32_t tables = 0;
};

class MonitorClient {
 public:
  virtual ~MonitorClient() = default;

  // The status JSON that came since the last call; nothing when none did.
  [[nodiscard]] virtual std::optional<std::string> Take() = 0;
  // Tells the scheduler, now and with every question after it, of lives whose processes have ended: it need
  // not find out by their silence.
  virtual void TellEnded(std::vector<WorkerLife> lives) = 0;
  // Wants a checkpoint now; one question at a time. It is asked again after every reconnect until there is an
  // answer. `wait`: the answer comes when the checkpoint is whole or given up.
  virtual void AskCheckpoint(bool wait) = 0;
  // The answer; nothing until it comes.
  [[nodiscard]] virtual std::optional<AskedCheckpoint> TakeCheckpoint() = 0;
  // Sets a synchronization rule; one at a time, and asked again like a checkpoint.
  virtual void AskSetSync(const std::string& rule) = 0;
  [[nodiscard]] virtual std::optional<AskedSetSync> TakeSetSync() = 0;
  // The scheduler has said that the job is over, and well.
  [[nodiscard]] virtual bool ended_well() const = 0;
  // Ok while the scheduler may still answer; else why it never will.
  [[nodiscard]] virtual Status failure() const = 0;
  // Blocks until there is something to take or a failure, at most `limit`.
  virtual void WaitForNews(std::chrono::milliseconds limit) = 0;
};

// Connects on a thread of its own, which ends with the client.
[[nodiscard]] std::unique_ptr<MonitorClient> ConnectMonitor(const MonitorOptions& options);

}  // namespace leeway::app
