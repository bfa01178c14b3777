#include "launch/job_commands.h"

#include <fmt/format.h>

#include "base/host_text.h"
#include "process/address_source.h"
#include "role/loss_flags.h"
#include "role/secret_flags.h"
#include "transport/stream/address.h"

namespace leeway::app {
namespace {

std::string Ms(std::chrono::milliseconds time) { return fmt::format("{}ms", time.count()); }

// By name, and not among the arguments: those are seen by everybody on the host.
void SetSecretFile(Environment& environment, const LaunchFiles& files) {
  environment.RemoveAll(kInsecureVariable);
  environment.Set(kSecretFileVariable, files.secret);
}

std::string ListenOfServers(const LaunchOptions& options) {
  const bool this_host = options.listen.empty() || IsLocal(options.listen);
  if (!this_host && options.bind_any) return std::string(HostOfAddress(options.listen)) + ":0";
  return ListenOnThisHost(this_host ? options.scheduler.link.transport : "tcp");
}

// Of the scheduler and of servers.
std::vector<std::string> RoleEnvironment(const Program& program, const LaunchFiles& files) {
  Environment environment = program.environment;
  SetSecretFile(environment, files);
  return environment.entries();
}

}  // namespace

ChildCommand SchedulerCommandOf(const Program& program, const LaunchOptions& options,
                                const LaunchFiles& files) {
  const SchedulerOptions& s = options.scheduler;
  ChildCommand command;
  command.program = program.executable;
  command.args = {
      "leeway",
      "scheduler",
      "--listen",
      options.listen.empty() ? ListenOnThisHost(s.link.transport) : options.listen,
      "--address-file",
      files.address(),
      "--status-file",
      files.status(),
      "--job",
      s.job.job,
      "--workers",
      fmt::format("{}", s.job.workers),
      "--servers",
      fmt::format("{}", s.job.servers),
      "--shards",
      fmt::format("{}", s.job.shards),
      "--sync",
      s.job.sync,
      "--placement",
      s.job.placement,
      "--block-bytes",
      fmt::format("{}", s.job.block_bytes),
      "--seed",
      fmt::format("{}", s.job.seed),
      "--transport",
      s.link.transport,
      "--gather-timeout",
      Ms(s.gather_timeout),
      "--suspect-after",
      Ms(s.suspect_after),
      "--expel-after",
      Ms(s.expel_after),
      "--wait-max",
      Ms(s.wait_max),
      "--min-workers",
      fmt::format("{}", s.min_workers),
      "--on-worker-loss",
      NameOf(s.on_worker_loss),
      "--on-server-loss",
      NameOf(options.on_server_loss == ServerLossPlan::kPatch ? OnServerLoss::kPatch : OnServerLoss::kFail),
      "--grace",
      "0ms",      // the launcher has had its checkpoint when it ends the job
      "--quiet",  // the launcher shows progress and summary
      "--log",
      options.log_level};
  if (options.bind_any) command.args.emplace_back("--bind-any");
  if (options.role_restart.scheduler > 0) command.args.insert(command.args.end(), {"--log-dir", files.log()});
  for (const std::string& rule : s.job.rules) command.args.insert(command.args.end(), {"--rule", rule});
  command.args.insert(command.args.end(), {"--pull", s.job.pull, "--exchange", s.job.exchange});
  if (!s.job.overlap) command.args.emplace_back("--no-overlap");
  if (!s.job.apply.empty()) command.args.insert(command.args.end(), {"--apply", s.job.apply});
  const CheckpointOptions& c = s.checkpoint;
  if (!c.folder.empty()) {
    command.args.insert(command.args.end(), {"--checkpoint-dir", c.folder, "--checkpoint-every",
                                             fmt::format("{}", c.every_iterations), "--checkpoint-time",
                                             Ms(c.every), "--checkpoint-keep", fmt::format("{}", c.keep)});
  }
  if (!c.resume.empty()) command.args.insert(command.args.end(), {"--resume", c.resume});
  command.environment = RoleEnvironment(program, files);
  return command;
}

ChildCommand ServerCommandOf(const Program& program, const LaunchOptions& options, const LaunchFiles& files,
                             std::uint32_t server) {
  ChildCommand command;
  command.program = program.executable;
  command.args = {"leeway",         "server",
                  "--scheduler",    files.scheduler(),
                  "--listen",       ListenOfServers(options),
                  "--job",          options.scheduler.job.job,
                  "--server",       fmt::format("{}", server),
                  "--shards",       fmt::format("{}", options.scheduler.job.shards),
                  "--transport",    options.scheduler.link.transport,
                  "--cores",        options.server_cores,
                  "--quiet",        "--log",
                  options.log_level};
  if (options.bind_any) command.args.emplace_back("--bind-any");
  command.environment = RoleEnvironment(program, files);
  return command;
}

ChildCommand WorkerCommandOf(const Program& program, const LaunchOptions& options, const LaunchFiles& files,
                             std::uint32_t rank, std::size_t restarts, const std::string& found) {
  Environment environment = program.environment;
  environment.RemoveAll("LEEWAY_");  // of a job that this one is started from
  environment.Set("LEEWAY_SCHEDULER", files.scheduler());
  SetSecretFile(environment, files);
  environment.Set("LEEWAY_JOB", options.scheduler.job.job);
  environment.Set("LEEWAY_TRANSPORT", options.scheduler.link.transport);
  environment.Set("LEEWAY_RANK", fmt::format("{}", rank));
  environment.Set("LEEWAY_SIZE", fmt::format("{}", options.scheduler.job.workers));
  environment.Set("LEEWAY_RESTART", fmt::format("{}", restarts));
  if (!options.record.empty()) environment.Set("LEEWAY_RECORD", "1");
  if (const auto slow = options.slow_workers.find(rank); slow != options.slow_workers.end()) {
    environment.Set("LEEWAY_SLOWDOWN", fmt::format("{}", slow->second));
  }
  const std::optional<std::string> python_path = environment.Get("PYTHONPATH");
  environment.Set("PYTHONPATH", python_path && !python_path->empty()
                                    ? program.python_folder() + ":" + *python_path
                                    : program.python_folder());
  // Several workers share this machine: one thread each unless the user knows better.
  environment.SetUnlessSet("OMP_NUM_THREADS", "1");
  // Their output goes through a pipe, where Python would hold it back until the end.
  environment.SetUnlessSet("PYTHONUNBUFFERED", "1");

  ChildCommand command;
  command.program = found;
  command.args = options.command;
  command.environment = environment.entries();
  return command;
}

}  // namespace leeway::app
