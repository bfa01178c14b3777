#include "status/monitor_client.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "leeway/env.h"
#include "node/control_frame.h"
#include "node/link.h"
#include "process/address_source.h"
#include "transport/real_env.h"
#include "wire/control.pb.h"
#include "wire/kind.h"

namespace leeway::app {
namespace {

// A monitor that cannot reach its scheduler says nothing: the launcher sees the scheduler's own end and exit
// code.
class SilentLog final : public Log {
 public:
  void Write(LogLevel, std::string_view) override {}
};

LinkOptions LinkOf(const MonitorOptions& options) {
  LinkOptions link;
  link.give_up_after = options.give_up_after;
  link.secret = options.secret;
  return link;
}

class MonitorLoop final : public MonitorClient, private LinkEvents {
 public:
  explicit MonitorLoop(const MonitorOptions& options)
      : real_(log_),
        job_(options.job),
        every_(options.every),
        life_(real_.env().random.Next()),
        link_(real_.env(), LinkOf(options), MakeAddressSource(options.scheduler), 0, "scheduler", *this) {
    real_.Post([this] { link_.Start(); });
    thread_ = std::thread([this] { real_.Run(); });
  }

  ~MonitorLoop() override {
    real_.Post([this] {
      Hush();
      real_.Stop();
    });
    thread_.join();
  }
  MonitorLoop(const MonitorLoop&) = delete;
  MonitorLoop& operator=(const MonitorLoop&) = delete;

  std::optional<std::string> Take() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(newest_, std::nullopt);
  }

  void TellEnded(std::vector<WorkerLife> lives) override {
    real_.Post([this, lives = std::move(lives)]() mutable {
      if (lives == ended_) return;
      ended_ = std::move(lives);
      if (link_.up() && !ended_.empty()) SendStatusRequest();
    });
  }

  void AskCheckpoint(bool wait) override {
    real_.Post([this, wait] {
      wanted_.emplace();
      wanted_->set_request(++asked_);
      wanted_->set_wait(wait);
      if (link_.up()) link_.SendControl(wire::Kind::kCheckpoint, *wanted_);
    });
  }

  std::optional<AskedCheckpoint> TakeCheckpoint() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(checkpoint_, std::nullopt);
  }

  void AskSetSync(const std::string& rule) override {
    real_.Post([this, rule] {
      wanted_sync_.emplace();
      wanted_sync_->set_request(++asked_);
      wanted_sync_->set_rule(rule);
      if (link_.up()) link_.SendControl(wire::Kind::kSetSync, *wanted_sync_);
    });
  }

  std::optional<AskedSetSync> TakeSetSync() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(set_sync_, std::nullopt);
  }

  bool ended_well() const override {
    const std::lock_guard lock(mutex_);
    return ended_well_;
  }

  Status failure() const override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

  void WaitForNews(std::chrono::milliseconds limit) override {
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, limit, [this] { return newest_ || checkpoint_ || set_sync_ || !failure_.ok(); });
  }

 private:
  wire::pb::Hello MakeHello(std::uint32_t) override {
    wire::pb::Hello hello;
    hello.set_version_min(wire::kVersionMin);
    hello.set_version_max(wire::kVersionMax);
    hello.set_job(job_);
    hello.set_role(wire::pb::ROLE_MONITOR);
    hello.set_life(life_);
    return hello;
  }
  void OnUp(std::uint32_t, const wire::pb::Welcome&) override {
    if (wanted_) link_.SendControl(wire::Kind::kCheckpoint, *wanted_);
    if (wanted_sync_) link_.SendControl(wire::Kind::kSetSync, *wanted_sync_);
    Ask();
  }
  void OnDown(std::uint32_t, const Status&) override { real_.env().timers.Cancel(timer_); }
  void OnFailed(std::uint32_t, const Status& why) override {
    real_.env().timers.Cancel(timer_);
    Fail(why);
  }
  Result<Landing> OnFrameStart(std::uint32_t, const FrameHead& head, std::span<const std::byte>) override {
    return Protocol("a {} frame with a payload, wanted none",
                    wire::KindName(static_cast<wire::Kind>(head.kind)));
  }
  void OnFrame(std::uint32_t, const FrameHead& head, std::span<const std::byte> body, Landing&&) override {
    switch (static_cast<wire::Kind>(head.kind)) {
      case wire::Kind::kJobEnd:
        TakeJobEnd(body);
        // The scheduler ends when everyone has gone.
        return real_.Post([this] {
          Hush();
          Fail(FailedPrecondition("the job is over"));
        });
      case wire::Kind::kStatusReply:
        return TakeStatusReply(body);
      case wire::Kind::kCheckpointReply:
        return TakeCheckpointReply(body);
      case wire::Kind::kSetSyncReply:
        return TakeSetSyncReply(body);
      default:
        return;  // rosters are for members
    }
  }

  void TakeJobEnd(std::span<const std::byte> body) {
    wire::pb::JobEnd end;
    if (!end.ParseFromArray(body.data(), static_cast<int>(body.size()))) return;
    const std::lock_guard lock(mutex_);
    ended_well_ = end.code() == 0;
  }

  void TakeStatusReply(std::span<const std::byte> body) {
    wire::pb::StatusReply reply;
    if (!reply.ParseFromArray(body.data(), static_cast<int>(body.size()))) return;
    const std::lock_guard lock(mutex_);
    newest_ = std::move(*reply.mutable_json());
    news_.notify_all();
  }

  void TakeCheckpointReply(std::span<const std::byte> body) {
    wire::pb::CheckpointReply reply;
    if (!reply.ParseFromArray(body.data(), static_cast<int>(body.size()))) return;
    if (!wanted_ || reply.request() != wanted_->request()) return;  // of a question before
    wanted_.reset();
    AskedCheckpoint got;
    if (!reply.error().empty()) got.status = StatusFromWire(reply.error_code(), reply.error());
    got.checkpoint = reply.checkpoint();
    got.iteration = reply.iteration();
    got.folder = reply.folder();
    const std::lock_guard lock(mutex_);
    checkpoint_ = std::move(got);
    news_.notify_all();
  }

  void TakeSetSyncReply(std::span<const std::byte> body) {
    wire::pb::SetSyncReply reply;
    if (!reply.ParseFromArray(body.data(), static_cast<int>(body.size()))) return;
    if (!wanted_sync_ || reply.request() != wanted_sync_->request()) return;  // of a question before
    wanted_sync_.reset();
    AskedSetSync got;
    if (!reply.error().empty()) got.status = StatusFromWire(reply.error_code(), reply.error());
    got.tables = reply.tables();
    const std::lock_guard lock(mutex_);
    set_sync_ = std::move(got);
    news_.notify_all();
  }

  void Fail(const Status& why) {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = why;
    news_.notify_all();
  }

  void Hush() {
    real_.env().timers.Cancel(timer_);
    link_.Stop();
  }

  void SendStatusRequest() {
    wire::pb::StatusRequest request;
    request.set_request(++asked_);
    for (const WorkerLife& life : ended_) {
      wire::pb::Life& ended = *request.add_ended();
      ended.set_worker(life.rank);
      ended.set_incarnation(static_cast<std::uint32_t>(life.incarnation));
    }
    link_.SendControl(wire::Kind::kStatusRequest, request);
  }

  void Ask() {
    SendStatusRequest();
    if (every_.count() > 0) timer_ = real_.env().timers.After(every_, [this] { Ask(); });
  }

  SilentLog log_;
  RealEnv real_;
  const std::string job_;
  const std::chrono::milliseconds every_;
  const std::uint64_t life_;
  Link link_;
  TimerId timer_;
  std::uint64_t asked_ = 0;
  std::optional<wire::pb::Checkpoint> wanted_;  // without an answer yet
  std::optional<wire::pb::SetSync> wanted_sync_;
  std::vector<WorkerLife> ended_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::optional<std::string> newest_;
  std::optional<AskedCheckpoint> checkpoint_;
  std::optional<AskedSetSync> set_sync_;
  Status failure_;
  bool ended_well_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<MonitorClient> ConnectMonitor(const MonitorOptions& options) {
  return std::make_unique<MonitorLoop>(options);
}

}  // namespace leeway::app
