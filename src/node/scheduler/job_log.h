// JobLog: the scheduler's log as a gate. No frame that depends on a change leaves before the change is in the
// log.
//
// Frames wait at the gate. After the event under way all that has changed becomes one record. Once that is
// written, the frames that were said up to then leave. So an event is in the log with all its changes or with
// none, and nobody has heard of one that is not. Leases of batches leave when they are appended, not synced:
// only a loss of power may give one out twice.
//
// Until Open, all of it does nothing. Thread rule: that of Env. May go before its Env.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "node/scheduler/scheduler_log.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

// Where frames wait for the log.
class LogGate {
 public:
  virtual ~LogGate() = default;
  // From now on nothing leaves by itself. `waiting` is called whenever something begins to wait.
  virtual void Hold(std::function<void()> waiting) = 0;
  // The number of the last frame that was said.
  [[nodiscard]] virtual std::uint64_t last_said() const = 0;
  // All frames up to this number leave.
  virtual void Release(std::uint64_t up_to) = 0;
  // No more holding: frames that wait are never sent.
  virtual void DropHeld() = 0;
};

class JobLog final : private SchedulerLogEvents {
 public:
  struct Events {
    // Adds what has changed since the last call. Returns how safe it must be before it is announced, if
    // anything has changed.
    std::function<std::optional<SchedulerLog::Safety>(wire::pb::LogRecord&)> add_changes;
    // Gives the whole job as of now.
    std::function<wire::pb::LogRecord()> snapshot;
    // Nothing waits to be written.
    std::function<void()> all_written;
    // The log cannot be written any more. Frames that waited for it are never sent.
    std::function<void(const Status& why)> lost;
  };
  // Borrows env and gate.
  JobLog(Env& env, LogGate& gate, Events events) : env_(env), gate_(gate), events_(std::move(events)) {}
  ~JobLog() override;
  JobLog(const JobLog&) = delete;
  JobLog& operator=(const JobLog&) = delete;

  // Reads the log; `done` gets nothing if no log is there. Holds the gate from now on.
  void Open(const SchedulerOptions& options, std::function<void(Result<std::optional<DecodedLog>>)> done);
  // The log was read, and the job is what it says: changes are written from now on. With `found`, the records
  // that were there are made safe first: they may not have been synced.
  void GoOn(bool found);
  // The log is read, and no other process has it; also when none is kept.
  [[nodiscard]] bool is_read() const { return log_ == nullptr || read_; }
  // Changes are written.
  [[nodiscard]] bool writes() const { return log_ != nullptr && read_; }
  [[nodiscard]] const std::string& path() const { return log_->path(); }
  // After the event under way: writes what has changed, and releases what waited for no more than that.
  void CommitSoon();
  // Nothing is written any more.
  void Stop() { stopped_ = true; }

 private:
  void Commit();
  wire::pb::LogRecord Snapshot() override;
  void OnWritten() override;
  void OnGivenUp(const Status& why) override;

  Env& env_;
  LogGate& gate_;
  const Events events_;
  std::unique_ptr<SchedulerLog> log_;  // null: none is kept, or it was given up
  bool read_ = false;
  bool stopped_ = false;
  std::uint64_t covered_ = 0;  // the write under way covers all that was said up to here
  TimerId commit_timer_;
};

}  // namespace leeway
