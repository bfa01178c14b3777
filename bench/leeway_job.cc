#include "leeway_job.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "assembly/assembly.h"
#include "base/errors.h"
#include "cpu.h"
#include "process/address_source.h"
#include "process/console_log.h"
#include "process/scheduler_process.h"
#include "process/secret_file.h"
#include "process/server_process.h"

namespace leeway::bench {
namespace {

// It dies with the bench.
constexpr std::chrono::hours kServeMax{240};
constexpr std::chrono::milliseconds kLeaveMax{60'000};

// With the scheduler if that has no address yet. Ends with the job.
Status Serve(const Child::Parent& parent, const SchedulerOptions& scheduler_options, ServerOptions options) {
  ConsoleLog log("bench server", LogLevel::kError);
  const Policies policies = Policies::Builtin();
  std::unique_ptr<SchedulerProcess> scheduler;
  if (options.scheduler.empty()) {
    LW_ASSIGN_OR_RETURN(scheduler, SchedulerProcess::Start(scheduler_options, policies, log));
    options.scheduler = scheduler->address();
  }
  LW_ASSIGN_OR_RETURN(const auto server,
                      ServerProcess::Start(options, scheduler_options.job.shards, policies, log));
  parent.Tell(options.scheduler);
  return server->Wait(kServeMax);
}

Orders OrdersOf(LeewayClient& client) {
  Orders orders =
      RunOrder([&client](double seconds, LatencyHistogram& latency) { return client.Run(seconds, latency); });
  orders["pairs"] = [&client](const std::string&) -> Result<std::string> {
    return std::to_string(client.pairs());
  };
  orders["check"] = [&client](const std::string& words) -> Result<std::string> {
    std::istringstream numbers(words);
    std::vector<std::uint64_t> pairs;
    for (std::uint64_t n = 0; numbers >> n;) pairs.push_back(n);
    LW_RETURN_IF_ERROR(client.Check(pairs));
    return std::string("done");
  };
  orders["leave"] = [&client](const std::string&) -> Result<std::string> {
    LW_RETURN_IF_ERROR(client.Leave());
    return std::string("done");
  };
  return orders;
}

}  // namespace

Result<ServerProcesses> ServerProcesses::Start(const JobOptions& job, const std::string& transport,
                                               const std::function<void(std::uint32_t)>& pin) {
  SchedulerOptions scheduler;
  scheduler.job = job;
  scheduler.link.transport = transport;
  scheduler.listen = ListenOnThisHost(transport);
  ServerProcesses processes;
  LW_ASSIGN_OR_RETURN(processes.secret_, NewSecret());
  scheduler.link.secret = processes.secret_;
  for (std::uint32_t n = 0; n < job.servers; ++n) {
    ServerOptions options;
    options.link = scheduler.link;
    options.listen = scheduler.listen;
    options.job = job.job;
    options.scheduler = processes.scheduler_;
    options.server = n;
    processes.children_.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
      pin(n);
      const Status status = Serve(parent, scheduler, options);
      if (!status.ok()) fmt::print(stderr, "bench server: {}\n", status.ToString());
      return ExitCode(status);
    }));
    LW_ASSIGN_OR_RETURN(processes.scheduler_, processes.children_.back()->Hear());
  }
  return processes;
}

Result<std::unique_ptr<LeewayJob>> LeewayJob::Start(const LeewayJobOptions& options) {
  auto job = std::make_unique<LeewayJob>();
  JobOptions job_options;
  job_options.sync = "asp";
  job_options.workers = options.workers;
  job_options.servers = options.servers;
  job_options.block_bytes =
      std::max(job_options.block_bytes, static_cast<std::uint32_t>(options.shape.block_bytes));
  LW_ASSIGN_OR_RETURN(job->servers_, ServerProcesses::Start(job_options, options.transport, [&](auto n) {
                        PinToCore(ServerCore(options.cores, n));
                      }));
  for (std::uint32_t n = 0; n < options.workers; ++n) {
    job->clients_.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
      PinToCore(ClientCore(options.cores, n));
      const Result<std::unique_ptr<LeewayClient>> client =
          LeewayClient::Join({.scheduler = job->servers_.scheduler(),
                              .secret = job->servers_.secret(),
                              .transport = options.transport,
                              .shape = options.shape,
                              .pulls = options.pulls,
                              .index = n,
                              .workers = options.workers});
      if (!client.ok()) return Fail(parent, client.status());
      return Obey(parent, OrdersOf(**client));
    }));
  }
  LW_RETURN_IF_ERROR(HearAll(job->clients_, "ready"));
  return job;
}

double LeewayJob::IdleCpuPercent(std::chrono::milliseconds time) const {
  const double before = ProcessorSeconds(clients_[0]->pid());
  std::this_thread::sleep_for(time);
  return (ProcessorSeconds(clients_[0]->pid()) - before) / std::chrono::duration<double>(time).count() * 100;
}

Status LeewayJob::CheckAndEnd() {
  std::string check = "check";
  for (const auto& client : clients_) {
    LW_RETURN_IF_ERROR(client->Tell("pairs"));
    LW_ASSIGN_OR_RETURN(const std::string pairs, client->Hear());
    check += " " + pairs;
  }
  LW_RETURN_IF_ERROR(AskAll(clients_, check));
  return AskAll(clients_, "leave", kLeaveMax);
}

}  // namespace leeway::bench
