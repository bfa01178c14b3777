#include "process/local_job.h"

#include <chrono>
#include <utility>

#include "assembly/assembly.h"
#include "base/errors.h"
#include "process/address_source.h"
#include "process/scheduler_process.h"
#include "process/secret_file.h"
#include "process/server_process.h"

namespace leeway {
namespace {

class LocalThreads final : public LocalJob {
 public:
  explicit LocalThreads(const Policies& policies) : policies_(policies) {}
  ~LocalThreads() override {
    if (scheduler_ == nullptr) return;
    // A worker that was shut down has just said goodbye, and the job ends by itself.
    if (scheduler_->Wait(std::chrono::milliseconds(200)).code() == StatusCode::kDeadlineExceeded) {
      scheduler_->Stop(Cancelled("the process that runs this job ends"));
    }
  }

  Status StartNodes(const JobOptions& job, Log& log, const std::string& transport) {
    LW_ASSIGN_OR_RETURN(secret_, NewSecret());
    SchedulerOptions scheduler;
    scheduler.listen = ListenOnThisHost(transport);
    scheduler.link.transport = transport;
    scheduler.link.secret = secret_;
    scheduler.job = job;
    scheduler.job.workers = 1;
    scheduler.job.servers = 1;
    scheduler.job.shards = 1;
    LW_ASSIGN_OR_RETURN(scheduler_, SchedulerProcess::Start(scheduler, policies_, log));
    ServerOptions server;
    server.listen = scheduler.listen;
    server.link = scheduler.link;
    server.job = job.job;
    server.scheduler = scheduler_->address();
    server.cores = "none";  // a script's own process: a host may run several, which do not know each other
    LW_ASSIGN_OR_RETURN(server_, ServerProcess::Start(server, 1, policies_, log));
    return Status::Ok();
  }

  [[nodiscard]] const std::string& scheduler() const override { return scheduler_->address(); }
  [[nodiscard]] const std::string& secret() const override { return secret_; }

 private:
  const Policies policies_;
  std::string secret_;
  std::unique_ptr<SchedulerProcess> scheduler_;
  std::unique_ptr<ServerProcess> server_;
};

}  // namespace

Result<std::unique_ptr<LocalJob>> LocalJob::Start(const JobOptions& job, Log& log,
                                                  const std::string& transport, const Policies& policies) {
  auto local = std::make_unique<LocalThreads>(policies);
  LW_RETURN_IF_ERROR(local->StartNodes(job, log, transport));
  return std::unique_ptr<LocalJob>(std::move(local));
}

}  // namespace leeway
