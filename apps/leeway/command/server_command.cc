#include <cstdio>
#include <memory>

#include "base/errors.h"
#include "command/commands.h"
#include "process/address_source.h"
#include "process/console_log.h"
#include "process/server_process.h"
#include "process/trace_file.h"
#include "role/job_flags.h"
#include "role/listen_address.h"
#include "role/plugin_flags.h"
#include "role/secret_flags.h"
#include "role/until_ended.h"
#include "status/job_display.h"

namespace leeway::app {
namespace {

class ServerCommand final : public Command {
 public:
  explicit ServerCommand(const Program& program) : secret_(program.environment) {}
  std::string name() const override { return "server"; }
  std::string summary() const override { return "start one server of a job by itself, until the job ends"; }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway server --scheduler 127.0.0.1:7000 --server 0 --secret-file job.secret\n"
           "  leeway server --scheduler file:/shared/job.address --server 1 --shards 4\n"
           "  leeway server --scheduler 10.0.0.5:7000 --listen 10.0.0.6:0 --bind-any\n\n"
           "LEEWAY_SECRET_FILE names the file with the job's secret where --secret-file does not.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Text("--scheduler", "WHERE", options_.scheduler,
               "its address host:port or local:NAME, or file:PATH that holds it");
    flags.Number("--server", "I", options_.server, 0, 1023, "which server of the job this is, from 0");
    flags.Number("--shards", "N", shards_, 1, 64, "shards: the same number as the scheduler was told");
    flags.Text(
        "--listen", "HOST:PORT", options_.listen,
        "where workers reach this server; port 0: any free one; local:NAME: this host alone, no TCP port");
    flags.Switch("--bind-any", options_.bind_any, "allow an address that other machines can reach");
    flags.Text("--job", "NAME", options_.job, "name of the job; the same as the scheduler's");
    plugins_.Declare(flags);
    secret_.Declare(flags);
    DeclareLinkFlags(flags, options_.link);
    DeclareCoresFlag(flags, options_.cores);
    flags.Bytes("--spare-bytes-max", options_.spare_bytes_max, 0, 1ULL << 40, "buffers kept for reuse");
    flags.Text(
        "--trace", "FOLDER", options_.trace.folder,
        "write this server's part of a trace into this folder (leeway run --trace puts the parts together)");
    flags.Text("--trace-steps", "FROM:TO", options_.trace.steps, "the steps of --trace");
    flags.Switch("-q,--quiet", quiet_, "no lines of progress");
    DeclareLogFlag(flags, log_level_);
  }

  Result<int> Run() override {
    if (options_.scheduler.empty()) {
      return InvalidArgument("--scheduler: not given, wanted host:port or file:PATH of the job's scheduler");
    }
    LW_RETURN_IF_ERROR(CheckAddress(options_.scheduler).WithContext("--scheduler"));
    LW_RETURN_IF_ERROR(CheckListenAndTell(options_.listen, options_.bind_any));
    LW_RETURN_IF_ERROR(ParseTraceSteps(options_.trace.steps).status().WithContext("--trace-steps"));
    LW_ASSIGN_OR_RETURN(options_.link.secret, secret_.Take());
    LW_ASSIGN_OR_RETURN(SignalInbox signals, OpenStopSignals());
    ConsoleLog log(fmt::format("server {}", options_.server), log_level_);
    LW_ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> process,
                        ServerProcess::Start(options_, shards_, plugins_.policies(), log));
    Status asked;
    RoleCalls calls;
    calls.wait = [&](std::chrono::milliseconds limit) { return process->Wait(limit); };
    calls.stop = [&](const Status& why) {
      asked = why;
      process->Stop();
    };
    calls.show_every = quiet_ ? std::chrono::milliseconds(0) : JobDisplay::kEvery;
    const auto show = [&process] {
      std::fprintf(stderr, "leeway: %s\n", ServerLine(process->counters()).c_str());
    };
    calls.show = show;
    const Status ended = UntilEnded(signals, calls);
    if (!quiet_ && ended.ok()) show();
    return ExitOf(ended.ok() ? asked : ended, log);
  }

 private:
  // Pushes, pulls and steps count once for each block, as in the summary of the job.
  static std::string ServerLine(const ServerCounters& counters) {
    const BlockCounters& blocks = counters.blocks;
    return fmt::format("{} pushes, {} pulls, {} DPRs, {} steps", blocks.applied + blocks.summed, blocks.pulls,
                       counters.dprs, blocks.steps);
  }

  SecretFlags secret_;
  PluginFlags plugins_;
  ServerOptions options_;
  std::uint32_t shards_ = 1;
  LogLevel log_level_ = LogLevel::kInfo;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> NewServerCommand(const Program& program) {
  return std::make_unique<ServerCommand>(program);
}

}  // namespace leeway::app
