// JobEnd: how the job ends. The scheduler tells everyone, then lingers until they have gone, so that the word
// reaches them before its process ends.
//
// After a good end the scheduler also waits for shards that have lost their connections. A shard that has not
// heard of the end would take the scheduler's exit for a failure. Thread rule: that of Env. May go before its
// Env.
#pragma once

#include <functional>
#include <optional>

#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "wire/control.pb.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class JobEnd {
 public:
  // Borrows env. `shards_done`: every shard has said goodbye or was given up. `close` is called once, at the
  // very end, and closes all connections.
  JobEnd(Env& env, const SchedulerOptions& options, std::function<bool()> shards_done,
         std::function<void(const Status& outcome)> close);
  ~JobEnd();
  JobEnd(const JobEnd&) = delete;
  JobEnd& operator=(const JobEnd&) = delete;

  // The job is over, and everyone has been told.
  [[nodiscard]] bool over() const { return over_; }
  // The end is in the log, and on its way to everyone.
  [[nodiscard]] bool lingers() const { return lingers_; }
  [[nodiscard]] const Status& outcome() const { return outcome_; }
  [[nodiscard]] wire::pb::JobEnd Message() const;

  // All workers are done, and shards owe an answer. Whether the end may still wait for it: from the first
  // call on, as long as a shard may be silent.
  [[nodiscard]] bool MayWait();
  // REQUIRES: not over.
  void Begin(const Status& why);
  // `nobody`: no connection is open.
  void Linger(bool nobody);
  // All that has changed is in the log, the end too if the job is over: it lingers from now on.
  void OnWritten(bool nobody) {
    if (over_ && !lingers_) Linger(nobody);
  }
  // A connection has ended while this lingers.
  void OnGone(bool nobody);
  // Ends without waiting any longer, once the call that is under way has returned. REQUIRES: lingers.
  void EndSoon();
  // Now.
  void End();

  void AddTo(wire::pb::LoggedJob& job) const;
  void Apply(const wire::pb::LoggedJob& job);

 private:
  [[nodiscard]] bool ShardsKnow() const;
  void OnLingered();

  Env& env_;
  const Duration pause_, limit_;
  const std::function<bool()> shards_done_;
  const std::function<void(const Status&)> close_;
  bool over_ = false;
  bool over_before_ = false;  // the log that was found says that the job is over
  bool lingers_ = false;
  bool ended_ = false;
  Status outcome_;
  std::optional<TimePoint> waits_since_;
  TimePoint since_;
  TimerId timer_;
};

}  // namespace leeway
