// SchedulerLog: the scheduler's log on its disk. Reads the file, appends records, writes the file anew.
//
// It appends to <folder>/scheduler.log only if this process began the file and no write has failed. A new
// file begins with one whole record: scheduler.log.tmp, synced, renamed over the old one, its folder synced.
// That happens when a scheduler starts, when the log has grown, and after a write that failed, since the
// file's end is unknown then. One write at a time, so changes that come during one share the next.
//
// A write that fails or takes too long is retried, with back-off, until the limit. Thread rule: that of Env.
// May go before its Env.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/env.h"
#include "leeway/status.h"
#include "node/scheduler/log_file.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

inline constexpr std::string_view kLogName = "scheduler.log";
inline constexpr std::string_view kLogTempName = "scheduler.log.tmp";
// Held for as long as the process lives: two schedulers that write one log would make nonsense of it.
inline constexpr std::string_view kLogLockName = "scheduler.lock";

class SchedulerLogEvents {
 public:
  virtual ~SchedulerLogEvents() = default;
  // All that the log must hold as of now, as one whole record. A write that was asked for need not hold
  // anything else.
  [[nodiscard]] virtual wire::pb::LogRecord Snapshot() = 0;
  // The write that was asked for is safe.
  virtual void OnWritten() = 0;
  // The limit has passed. Nothing is written any more.
  virtual void OnGivenUp(const Status& why) = 0;
};

class SchedulerLog {
 public:
  // A file that has grown to this and to kGrowth times what it began with is written anew.
  static constexpr std::uint64_t kGrownBytes = 1U << 20;
  static constexpr std::uint64_t kGrowth = 4;

  // Borrows env and events.
  SchedulerLog(Env& env, const std::string& folder, std::string job, Duration limit,
               SchedulerLogEvents& events);
  ~SchedulerLog();
  SchedulerLog(const SchedulerLog&) = delete;
  SchedulerLog& operator=(const SchedulerLog&) = delete;

  // Reads the file; `done` gets nothing if there is no file, and an error that names the folder if another
  // process has it. To be called once, first.
  void Read(std::function<void(Result<std::optional<DecodedLog>>)> done);

  enum class Safety : std::uint8_t {
    kProcess,  // survives the end of this process
    kPower,    // survives a loss of power, with all that was written before
  };
  // Adds a record. OnWritten or OnGivenUp follows. REQUIRES: not busy, not given up.
  void Write(const wire::pb::LogRecord& record, Safety safety);
  [[nodiscard]] bool busy() const { return busy_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  using Done = std::function<void(const Status&)>;
  // Calls `then` unless this object is gone by then.
  [[nodiscard]] Done IfHere(Done then);
  void Rewrite();
  void Publish(std::uint64_t bytes);
  void Succeed();
  void Fail(const Status& why);
  void GiveUp();

  Env& env_;
  const std::string folder_, path_, temp_, job_;
  const Duration limit_;
  SchedulerLogEvents& events_;
  const std::shared_ptr<bool> here_ =
      std::make_shared<bool>(true);  // shared: with callbacks, which outlive this

  bool anew_ = true;  // the next write begins a new file
  bool busy_ = false;
  std::uint64_t bytes_ = 0;     // of the file
  std::uint64_t synced_ = 0;    // ... that are safe
  std::uint64_t began_as_ = 0;  // the file's bytes when it was begun
  Status failure_;              // of the write under way, if it has failed
  Duration backoff_{};
  TimerId retry_timer_, limit_timer_;
};

}  // namespace leeway
