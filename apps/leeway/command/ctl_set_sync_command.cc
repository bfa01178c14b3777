// leeway ctl set-sync: another synchronization model for some tables and servers of a job that runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/policy_check.h"
#include "command/commands.h"
#include "command/ctl_scheduler.h"
#include "role/plugin_flags.h"
#include "terminal/quantity.h"

namespace leeway::app {
namespace {

class CtlSetSyncCommand final : public Command {
 public:
  explicit CtlSetSyncCommand(const Program& program) : scheduler_(program) {}
  std::string name() const override { return "ctl set-sync"; }
  std::string summary() const override { return "change the synchronization of a running job, at once"; }
  std::string lesson() const override {
    return "Examples:\n"
           "  export LEEWAY_SCHEDULER=127.0.0.1:7000 LEEWAY_SECRET_FILE=$PWD/job.secret\n"
           "  leeway ctl set-sync sync=ssp:3\n"
           "  leeway ctl set-sync 'tables=fc*' sync=psp:2,50\n"
           "  leeway ctl set-sync server=1 'sync=when:pull=\"gap < s || rand > p\",s=3,p=0.5'\n\n"
           "A rule is [tables=GLOB] [server=N] sync=SPEC [apply=SPEC]; it wins over the rules that were set "
           "before it. It acts at once, also on pulls that wait, and training continues. The scheduler "
           "refuses a rule that the job cannot apply, and nothing changes. leeway ctl status shows the model "
           "of every table on every server. Models: " +
           KnownSyncModels() + ".\n";
  }
  void Declare(FlagSet& flags) override {
    scheduler_.Declare(flags, std::chrono::seconds(30));
    plugins_.Declare(flags);
    flags.Words("RULE", words_, 1, 4, "words such as tables=fc* server=1 sync=ssp:3");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const MonitorOptions options, scheduler_.Options());
    const std::string rule = fmt::format("{}", fmt::join(words_, " "));
    LW_RETURN_IF_ERROR(CheckRule(plugins_.policies(), rule));
    const std::unique_ptr<MonitorClient> monitor = ConnectMonitor(options);
    monitor->AskSetSync(rule);
    LW_ASSIGN_OR_RETURN(const AskedSetSync got,
                        scheduler_.Await(*monitor, [&]() -> std::optional<AskedSetSync> {
                          (void)monitor->Take();  // a status comes with every connect
                          return monitor->TakeSetSync();
                        }));
    LW_RETURN_IF_ERROR(got.status);
    fmt::print("the rule matches {} of the job; every server has it\n", Counted(got.tables, "table"));
    return 0;
  }

 private:
  CtlScheduler scheduler_;
  PluginFlags plugins_;
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> NewCtlSetSyncCommand(const Program& program) {
  return std::make_unique<CtlSetSyncCommand>(program);
}

}  // namespace leeway::app
