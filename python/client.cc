#include "client.h"

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <chrono>
#include <cmath>

#include "base/errors.h"
#include "process/console_log.h"
#include "process/local_job.h"
#include "process/plugin_library.h"
#include "process/worker_client.h"
#include "status_error.h"

namespace leeway {
namespace {

// The longest wait_max: a longer one is a slip in a unit. Its milliseconds are far from overflow.
constexpr double kWaitMaxS = 30.0 * 24 * 3600;

// 0 means no limit. Rounds up, so that a limit above 0 does not become 0. The condition refuses NaN as well.
std::optional<std::chrono::milliseconds> WaitMax(std::optional<double> wait_max_s) {
  if (!wait_max_s) return std::nullopt;
  if (!(*wait_max_s >= 0 && *wait_max_s <= kWaitMaxS)) {
    throw StatusError(
        InvalidArgument("wait_max {}, wanted seconds up to {} (30 days), or 0 or \"none\" for no limit",
                        *wait_max_s, kWaitMaxS));
  }
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*wait_max_s));
}

// Runs Python's signal handlers (Ctrl-C) while a call waits. True if one raised: its exception stays set, and
// the user sees it instead of the call's Status.
bool SignalArrived() {
  const pybind11::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

using Seconds = std::chrono::duration<double>;

// A loan without a ticket, and the options of its push, which pin it.
std::pair<Loan, PushOptions> Terms(const Hyper& hyper, std::uint32_t samples) {
  auto pin = std::make_shared<const char>();
  Loan loan{0, pin};
  PushOptions how;
  how.hyper = hyper;
  how.samples = samples;
  how.pin = std::move(pin);
  return {std::move(loan), std::move(how)};
}

}  // namespace

// A worker and, for a script without a launcher, the rest of its job.
struct Client::Life {
  ConsoleLog log{"worker", LogLevel::kWarning};
  std::unique_ptr<LocalJob> local_job;  // before worker: ends after it
  std::unique_ptr<Worker> worker;
};

std::unique_ptr<Client> Client::Join(const std::string& scheduler, const std::string& job, std::int64_t rank,
                                     std::optional<double> wait_max_s, const std::string& transport,
                                     bool record, const std::string& secret_file, bool insecure,
                                     const std::string& trace, const std::string& trace_steps,
                                     const std::vector<std::string>& plugins) {
  WorkerOptions options;
  options.scheduler = scheduler;
  options.job = job;
  options.rank = rank;
  options.wait_max = WaitMax(wait_max_s);
  options.link.transport = transport;
  options.record = record;
  options.secret_file = secret_file;
  options.insecure = insecure;
  options.plugins = plugins;
  options.trace.folder = trace;
  if (!trace_steps.empty()) options.trace.steps = trace_steps;
  return Connect(std::make_shared<Life>(), std::move(options));
}

std::unique_ptr<Client> Client::Alone(const std::string& sync, const std::string& apply,
                                      std::uint32_t block_bytes, std::optional<double> wait_max_s,
                                      const std::string& pull, const std::string& exchange,
                                      const std::vector<std::string>& rules,
                                      const std::vector<std::string>& plugins, bool priorities,
                                      const std::string& pull_at) {
  WorkerOptions options;
  options.wait_max = WaitMax(wait_max_s);
  auto life = std::make_shared<Life>();
  JobOptions job;
  job.job = "alone";
  job.sync = sync;
  job.apply = apply;
  job.block_bytes = block_bytes;
  job.pull = pull;
  job.exchange = exchange;
  job.rules = rules;
  job.priorities = priorities;
  job.pull_at = pull_at;
  life->local_job = Check(LocalJob::Start(job, life->log, "auto", Check(PoliciesWith(plugins))));
  options.plugins = plugins;
  options.scheduler = life->local_job->scheduler();
  options.link.secret = life->local_job->secret();
  options.job = job.job;
  options.rank = 0;
  return Connect(std::move(life), std::move(options));
}

std::unique_ptr<Client> Client::Connect(std::shared_ptr<Life> life, WorkerOptions options) {
  options.keeps_state = true;  // leeway.rank_state gives it
  life->worker = Check(InitializeWorker(options, SignalArrived));
  return std::unique_ptr<Client>(new Client(std::move(life)));
}

Client::Client(std::shared_ptr<Life> life) : pid_(::getpid()), life_(std::move(life)) {}

void Client::Close() {
  if (::getpid() != pid_) {
    // A forked child lacks the threads that the destructor joins: leak it.
    (void)new std::shared_ptr<Life>(std::move(life_));
    return;
  }
  std::shared_ptr<Life> ending;  // before the lock, so that its destructor runs without it
  const std::lock_guard lock(mutex_);
  ending.swap(life_);
}

std::shared_ptr<Worker> Client::worker() {
  if (::getpid() != pid_) {
    throw StatusError(FailedPrecondition(
        "this process (pid {}) was forked from the one that joined the job (pid {}); only that one "
        "may call Leeway",
        ::getpid(), pid_));
  }
  const std::lock_guard lock(mutex_);
  if (!life_)
    throw StatusError(FailedPrecondition("the job was shut down in this process; call init() for a new one"));
  return {life_, life_->worker.get()};
}

std::vector<Loan> Client::PushAll(const std::vector<Lent>& gradients) {
  std::vector<Loan> loans;
  std::vector<TablePush> pushes;
  for (const auto& [table, address, elements, hyper, samples, ready_s] : gradients) {
    auto [loan, how] = Terms(hyper, samples);
    // perf_counter() of Linux is CLOCK_MONOTONIC.
    if (std::isfinite(ready_s)) how.ready = TimePoint(std::chrono::duration_cast<Duration>(Seconds(ready_s)));
    loans.push_back(std::move(loan));
    pushes.push_back({TableId(table), Floats(address, elements), std::move(how)});
  }
  const std::vector<Ticket> tickets = Check(worker()->PushAll(std::move(pushes)));
  for (std::size_t i = 0; i < loans.size(); ++i) loans[i].ticket = tickets[i];
  return loans;
}

Loan Client::PushPull(TableId table, std::span<const float> gradient, std::span<float> values,
                      const Hyper& hyper, std::uint32_t samples) {
  auto [loan, how] = Terms(hyper, samples);
  loan.ticket = Check(worker()->PushPull(table, gradient, values, std::move(how)));
  return loan;
}

}  // namespace leeway
