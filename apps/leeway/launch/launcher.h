// Launcher: starts scheduler, servers and workers of one job here, watches over them and ends them together.
//
// The first worker that ends with an error of its own ends the job, and its exit code is the launcher's. One
// that is lost is started again while there are restarts left; then the job does what on_worker_loss says. A
// scheduler that dies is started again and goes on from its log; a server as on_server_loss says. Whatever
// ends the launcher, no file of it stays behind (guard.h), and no process but one that called `setsid`, which
// leaves the group that it could be reached by.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/job_record.h"
#include "launch/role_restarts.h"
#include "launch/slow_workers.h"
#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "status/worker_lives.h"
#include "system/environment.h"

namespace leeway::app {

// The job's reaction to the death of a server, or of a scheduler that is not started again.
enum class ServerLossPlan : std::uint8_t {
  kPatch,     // another takes its place, with its blocks as they are in the newest checkpoint
  kRollback,  // all processes end, and begin again from the newest checkpoint
  kFail,      // it ends
};

struct LaunchOptions {
  SchedulerOptions scheduler;        // of which the job, its secret, the three waits, what to do about losses
  std::vector<std::string> plugins;  // paths, loaded by every process of the job
  RestartOptions restart;
  RoleRestartOptions role_restart;
  ServerLossPlan on_server_loss = ServerLossPlan::kPatch;
  // Where the scheduler listens, said to the user; servers open TCP ports too unless it is local. Empty: no
  // port is opened, unless the transport is tcp.
  std::string listen;
  std::string secret_file;  // holds the job's secret, and is made if it is not there; empty: one of its own
  std::string server_cores = "auto";  // ServerOptions::cores
  std::uint32_t rollbacks_max = 100;
  bool bind_any = false;  // `listen` may be an address that other machines can reach
  // A job that has lost workers ends with 0 all the same: the user said what to do about losses.
  bool accepts_losses = false;
  // SIGTERM waits this long for a checkpoint, and Ctrl-C for the workers to end by themselves; 0: not at all.
  std::chrono::milliseconds grace{30'000};
  std::vector<std::string> command;  // what every worker runs
  // Whether this word ("-w") is a flag of the launching command, for a hint; empty: not known.
  std::function<bool(std::string_view)> is_flag;
  SlowWorkers slow_workers;
  std::string summary_json;                 // a file for the summary; empty: none
  std::string record;                       // a file for the record of the run; empty: none
  std::string trace;                        // a file for a trace of all processes; empty: none
  std::string trace_steps;                  // as TraceOptions::steps; empty: its default
  TraceOptions trace_parts;                 // with `trace`: what the processes are given
  ExchangeCosts exchange_costs;             // with `record`: measured before
  LogLevel log_level = LogLevel::kWarning;  // of scheduler and servers
  bool prefix = true;                       // "[w0] " before every line of worker 0
  bool quiet = false;                       // no progress and no summary; warnings and errors stay

  std::chrono::milliseconds term_grace{5'000};  // between SIGTERM and SIGKILL
  std::chrono::milliseconds settle{5'000};      // for scheduler and servers to end after the last worker has
  std::chrono::milliseconds straggle{2'000};    // for workers that were declared dead, once the job is over
  std::chrono::milliseconds status_every{250};
  std::chrono::milliseconds line_every{5'000};  // between plain lines when stderr is no terminal
};

// Runs the job to its end; returns the exit code of the whole: 0 if all workers ended well, that of the first
// one that failed, that of one that was lost unless accepts_losses, 128 and above when none is left, 5 when
// none ever joined, 128 + n when signal n ended the launcher. An error: nothing was started.
[[nodiscard]] Result<int> LaunchJob(const Program& program, const LaunchOptions& options);

}  // namespace leeway::app
