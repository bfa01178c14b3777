#include "process/scheduler_process.h"

#include <atomic>
#include <utility>

#include "base/errors.h"
#include "process/end_latch.h"
#include "process/node_thread.h"

namespace leeway {
namespace {

// A scheduler that is destroyed ends its job first; it waits this long for nodes that do not answer.
constexpr std::chrono::milliseconds kEndLimit{3'000};
constexpr std::chrono::milliseconds kLook{2};

class SchedulerThread final : public SchedulerProcess {
 public:
  SchedulerThread(const SchedulerOptions& options, Carrier carrier, Log& log)
      : thread_(log, options.bind_any, carrier) {}

  ~SchedulerThread() override {
    if (node_ != nullptr && !latch_.ended()) {
      Stop(Cancelled("the scheduler was stopped"));
      (void)latch_.Wait(kEndLimit);
    }
    thread_.Stop();
  }

  Status StartNode(const SchedulerOptions& options, const Policies& policies) {
    // shared, here and below: the task may outlive a call that ran into its limit
    auto started = std::make_shared<Status>(Internal("the scheduler's thread does not run"));
    const bool ran = thread_.Call([this, options, &policies, started] {
      node_ = MakeScheduler(options, thread_.env(), policies, [this](const Status& why) { latch_.End(why); });
      *started = node_->Start();
      if (started->ok()) address_ = node_->address();
    });
    if (!ran) return Internal("the scheduler's thread does not answer");
    if (!started->ok()) latch_.End(*started);
    return started->ok() ? AwaitLog(options.gather_timeout) : *started;
  }

  [[nodiscard]] const std::string& address() const override { return address_; }

  [[nodiscard]] std::string StatusJson() override {
    auto json = std::make_shared<std::string>();
    return thread_.Call([this, json] { *json = node_->StatusJson(); }) ? *json : "{}";
  }

  void RequestCheckpoint(CheckpointRequests::Done done) override {
    thread_.Call([this, done = std::move(done)] { node_->RequestCheckpoint(done); });
  }

  void Stop(const Status& why) override {
    thread_.Call([this, why] { node_->Stop(why); });
  }

  Status Wait(std::chrono::milliseconds limit) override { return latch_.Wait(limit); }

 private:
  // Waits until this scheduler holds the log's lock, or has ended without it. The address is published only
  // after that: otherwise clients would leave the scheduler that is still running.
  Status AwaitLog(std::chrono::milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    auto has_log = std::make_shared<std::atomic<bool>>(false);
    while (thread_.Call([this, has_log] { *has_log = node_->has_log(); }) && !*has_log) {
      const Status ended = latch_.Wait(kLook);
      if (ended.code() != StatusCode::kDeadlineExceeded) return ended;
      if (std::chrono::steady_clock::now() >= until)
        return DeadlineExceeded("the scheduler's log could not be read within {} ms", limit.count());
    }
    return Status::Ok();
  }

  EndLatch latch_{1};
  NodeThread thread_;
  std::unique_ptr<SchedulerNode> node_;  // after thread_: destroyed first, once the thread has stopped
  std::string address_;
};

}  // namespace

Result<std::unique_ptr<SchedulerProcess>> SchedulerProcess::Start(const SchedulerOptions& options,
                                                                  const Policies& policies, Log& log) {
  LW_ASSIGN_OR_RETURN(const Carrier carrier, ParseCarrier(options.link.transport));
  auto process = std::make_unique<SchedulerThread>(options, carrier, log);
  LW_RETURN_IF_ERROR(process->StartNode(options, policies));
  return std::unique_ptr<SchedulerProcess>(std::move(process));
}

}  // namespace leeway
