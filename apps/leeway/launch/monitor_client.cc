#include "launch/monitor_client.h"

#include <thread>
#include <utility>

#include "base/errors.h"
#include "leeway/env.h"
#include "node/link.h"
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

}  // namespace

class MonitorClient::Loop final : private LinkEvents {
 public:
  Loop(const std::string& scheduler, std::string job, std::chrono::milliseconds every)
      : real_(log_),
        job_(std::move(job)),
        every_(every),
        life_(real_.env().random.Next()),
        link_(
            real_.env(), LinkOptions{}, [scheduler] { return Result<std::string>(scheduler); }, 0,
            "scheduler", *this) {
    real_.Post([this] { link_.Start(); });
    thread_ = std::thread([this] { real_.Run(); });
  }

  ~Loop() override {
    real_.Post([this] {
      Hush();
      real_.Stop();
    });
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  std::optional<std::string> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(newest_, std::nullopt);
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
  void OnUp(std::uint32_t, const wire::pb::Welcome&) override { Ask(); }
  void OnDown(std::uint32_t, const Status&) override { real_.env().timers.Cancel(timer_); }
  void OnFailed(std::uint32_t, const Status&) override { real_.env().timers.Cancel(timer_); }
  Result<Landing> OnFrameStart(std::uint32_t, const FrameHead& head, std::span<const std::byte>) override {
    return Protocol("a {} frame with a payload, wanted none",
                    wire::KindName(static_cast<wire::Kind>(head.kind)));
  }
  void OnFrame(std::uint32_t, const FrameHead& head, std::span<const std::byte> body, Landing) override {
    const auto kind = static_cast<wire::Kind>(head.kind);
    if (kind == wire::Kind::kJobEnd)
      real_.Post([this] { Hush(); });              // the scheduler ends when everyone has gone
    if (kind != wire::Kind::kStatusReply) return;  // rosters are for members
    wire::pb::StatusReply reply;
    if (!reply.ParseFromArray(body.data(), static_cast<int>(body.size()))) return;
    const std::lock_guard lock(mutex_);
    newest_ = std::move(*reply.mutable_json());
  }

  void Hush() {
    real_.env().timers.Cancel(timer_);
    link_.Stop();
  }

  void Ask() {
    wire::pb::StatusRequest request;
    request.set_request(++asked_);
    link_.SendControl(wire::Kind::kStatusRequest, request);
    timer_ = real_.env().timers.After(every_, [this] { Ask(); });
  }

  SilentLog log_;
  RealEnv real_;
  const std::string job_;
  const std::chrono::milliseconds every_;
  const std::uint64_t life_;
  Link link_;
  TimerId timer_;
  std::uint64_t asked_ = 0;
  std::mutex mutex_;
  std::optional<std::string> newest_;
  std::thread thread_;
};

MonitorClient::MonitorClient(const std::string& scheduler, const std::string& job,
                             std::chrono::milliseconds every)
    : loop_(std::make_unique<Loop>(scheduler, job, every)) {}

MonitorClient::~MonitorClient() = default;

std::optional<std::string> MonitorClient::Take() { return loop_->Take(); }

}  // namespace leeway::app
