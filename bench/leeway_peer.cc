#include "leeway_peer.h"

#include <algorithm>
#include <chrono>

#include "assembly/assembly.h"
#include "base/errors.h"
#include "process/console_log.h"
#include "process/scheduler_process.h"
#include "process/server_process.h"

namespace leeway::bench {
namespace {

constexpr std::chrono::seconds kServeMax{60};
constexpr std::uint32_t kBlockBytesMin = 4U << 20;

double NowUs() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status Serve(const PeerShape& shape, const Child::Tell& tell) {
  ConsoleLog log("bench server", LogLevel::kWarning);
  const Policies policies = Policies::Builtin();
  SchedulerOptions scheduler_options;
  scheduler_options.job.sync = "asp";
  scheduler_options.job.block_bytes = std::max(kBlockBytesMin, static_cast<std::uint32_t>(shape.block_bytes));
  LW_ASSIGN_OR_RETURN(const auto scheduler, SchedulerProcess::Start(scheduler_options, policies, log));
  ServerOptions server_options;
  server_options.scheduler = scheduler->address();
  LW_ASSIGN_OR_RETURN(const auto server, ServerProcess::Start(server_options, 1, policies, log));
  tell(scheduler->address());
  return server->Wait(kServeMax);
}

}  // namespace

int ServeLeeway(const PeerShape& shape, const Child::Tell& tell) {
  const Status status = Serve(shape, tell);
  if (!status.ok()) fmt::print(stderr, "bench server: {}\n", status.ToString());
  return ExitCode(status);
}

LeewayClient::LeewayClient(const PeerShape& shape)
    : shape_(shape),
      elements_(shape.block_bytes / sizeof(float)),
      gradients_(elements_ * shape.blocks, 1.0F),
      values_(elements_ * shape.blocks, 0.0F),
      pairs_(shape.in_flight) {}

Result<std::unique_ptr<LeewayClient>> LeewayClient::Join(const std::string& scheduler,
                                                         const PeerShape& shape) {
  std::unique_ptr<LeewayClient> client(new LeewayClient(shape));
  LW_RETURN_IF_ERROR(client->Start(scheduler));
  return client;
}

Status LeewayClient::Start(const std::string& scheduler) {
  WorkerOptions options;
  options.scheduler = scheduler;
  LW_ASSIGN_OR_RETURN(worker_, Worker::Initialize(options));
  for (std::size_t i = 0; i < shape_.blocks; ++i) {
    TableSpec spec;
    spec.name = fmt::format("block{}", i);
    spec.shape = {static_cast<std::int64_t>(elements_)};
    spec.clock = TableClock::kOwn;
    spec.sync = "asp";
    spec.optimizer = "sum";
    LW_ASSIGN_OR_RETURN(const TableId table, worker_->CreateTable(spec));
    tables_.push_back(table);
  }
  LW_RETURN_IF_ERROR(worker_->Start());
  for (std::size_t i = 0; i < shape_.blocks; ++i)
    LW_RETURN_IF_ERROR(worker_->Broadcast(tables_[i], ValuesOf(i)));
  return Status::Ok();
}

std::span<float> LeewayClient::ValuesOf(std::uint64_t n) {
  return std::span(values_).subspan(n % shape_.blocks * elements_, elements_);
}

Status LeewayClient::Begin(std::uint64_t n) {
  Pair& pair = pairs_[n % shape_.in_flight];
  const TableId table = tables_[n % shape_.blocks];
  pair.began_us = NowUs();
  LW_ASSIGN_OR_RETURN(
      pair.push,
      worker_->Push(table, std::span(gradients_).subspan(n % shape_.blocks * elements_, elements_)));
  LW_ASSIGN_OR_RETURN(pair.pull, worker_->Pull(table, ValuesOf(n)));
  return Status::Ok();
}

Status LeewayClient::Finish(std::uint64_t n, std::vector<float>& latencies_us) {
  const Pair& pair = pairs_[n % shape_.in_flight];
  LW_RETURN_IF_ERROR(worker_->Wait(pair.push));
  LW_RETURN_IF_ERROR(worker_->Wait(pair.pull));
  latencies_us.push_back(static_cast<float>(NowUs() - pair.began_us));
  return Status::Ok();
}

Result<std::uint64_t> LeewayClient::Run(double seconds, std::vector<float>& latencies_us) {
  const std::uint64_t before = finished_;
  const double end_us = NowUs() + seconds * 1e6;
  while (NowUs() < end_us) {
    while (begun_ - finished_ < shape_.in_flight) LW_RETURN_IF_ERROR(Begin(begun_++));
    LW_RETURN_IF_ERROR(Finish(finished_++, latencies_us));
  }
  while (finished_ < begun_) LW_RETURN_IF_ERROR(Finish(finished_++, latencies_us));
  return finished_ - before;
}

Status LeewayClient::CheckAndLeave() {
  for (std::uint64_t i = 0; i < shape_.blocks; ++i) {
    LW_ASSIGN_OR_RETURN(const Ticket pull, worker_->Pull(tables_[i], ValuesOf(i)));
    LW_RETURN_IF_ERROR(worker_->Wait(pull));
    const std::uint64_t pushes = finished_ / shape_.blocks + (i < finished_ % shape_.blocks ? 1 : 0);
    const auto wanted = static_cast<float>(pushes);
    for (const float got : ValuesOf(i)) {
      if (got != wanted)
        return Internal("block {} of the bench: got a value of {}, wanted {}", i, got, wanted);
    }
  }
  return worker_->Shutdown();
}

}  // namespace leeway::bench
