#include "launch/job_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/host_text.h"
#include "process/address_source.h"
#include "role/job_flags.h"
#include "role/loss_flags.h"
#include "role/secret_flags.h"
#include "transport/stream/address.h"

namespace leeway::app {
namespace {

std::string Ms(std::chrono::milliseconds time) { return fmt::format("{}ms", time.count()); }

auto AddTo(std::vector<std::string>& args) {
  return [&args](const char* flag, const auto& value) {
    args.insert(args.end(), {flag, fmt::format("{}", value)});
  };
}

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
  command.args = {"leeway", "scheduler", "--quiet"};  // the launcher shows progress and summary
  const auto add = AddTo(command.args);
  add("--listen", options.listen.empty() ? ListenOnThisHost(s.link.transport) : options.listen);
  add("--address-file", files.address());
  add("--status-file", files.status());
  add("--job", s.job.job);
  add("--workers", s.job.workers);
  add("--servers", s.job.servers);
  add("--shards", s.job.shards);
  add("--sync", s.job.sync);
  add("--placement", s.job.placement);
  add("--block-bytes", s.job.block_bytes);
  add("--seed", s.job.seed);
  add("--transport", s.link.transport);
  add("--gather-timeout", Ms(s.gather_timeout));
  add("--suspect-after", Ms(s.suspect_after));
  add("--expel-after", Ms(s.expel_after));
  add("--wait-max", Ms(s.wait_max));
  add("--min-workers", s.min_workers);
  add("--on-worker-loss", NameOf(s.on_worker_loss));
  const bool patch = options.on_server_loss == ServerLossPlan::kPatch;
  add("--on-server-loss", NameOf(patch ? OnServerLoss::kPatch : OnServerLoss::kFail));
  add("--grace", "0ms");  // the launcher has had its checkpoint when it ends the job
  add("--log", NameOf(options.log_level));
  if (options.bind_any) command.args.emplace_back("--bind-any");
  if (options.role_restart.scheduler > 0) add("--log-dir", files.log());
  for (const std::string& plugin : options.plugins) add("--plugin", plugin);
  for (const std::string& rule : s.job.rules) add("--rule", rule);
  add("--pull", s.job.pull);
  add("--exchange", s.job.exchange);
  if (!s.job.overlap) command.args.emplace_back("--no-overlap");
  add("--flush-bytes", s.job.flush_bytes);
  add("--priorities", s.job.priorities ? "on" : "off");
  add("--pull-at", s.job.pull_at);
  if (!s.job.apply.empty()) add("--apply", s.job.apply);
  const CheckpointOptions& c = s.checkpoint;
  if (!c.folder.empty()) {
    add("--checkpoint-dir", c.folder);
    add("--checkpoint-every", c.every_iterations);
    add("--checkpoint-time", Ms(c.every));
    add("--checkpoint-keep", c.keep);
  }
  if (!c.resume.empty()) add("--resume", c.resume);
  command.environment = RoleEnvironment(program, files);
  return command;
}

ChildCommand ServerCommandOf(const Program& program, const LaunchOptions& options, const LaunchFiles& files,
                             std::uint32_t server) {
  ChildCommand command;
  command.program = program.executable;
  command.args = {"leeway", "server", "--quiet"};
  const auto add = AddTo(command.args);
  add("--scheduler", files.scheduler());
  add("--listen", ListenOfServers(options));
  add("--job", options.scheduler.job.job);
  add("--server", server);
  add("--shards", options.scheduler.job.shards);
  add("--transport", options.scheduler.link.transport);
  add("--cores", options.server_cores);
  for (const std::string& plugin : options.plugins) add("--plugin", plugin);
  add("--log", NameOf(options.log_level));
  if (options.bind_any) command.args.emplace_back("--bind-any");
  if (!options.trace_parts.folder.empty()) {
    add("--trace", options.trace_parts.folder);
    add("--trace-steps", options.trace_parts.steps);
  }
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
  if (!options.plugins.empty())
    environment.Set("LEEWAY_PLUGINS", fmt::format("{}", fmt::join(options.plugins, ":")));
  if (!options.record.empty()) environment.Set("LEEWAY_RECORD", "1");
  if (!options.trace_parts.folder.empty()) {
    environment.Set("LEEWAY_TRACE", options.trace_parts.folder);
    environment.Set("LEEWAY_TRACE_STEPS", options.trace_parts.steps);
  }
  options.slow_workers.SetVariables(rank, options.scheduler.job.seed, environment);
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
