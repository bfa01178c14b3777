// leeway_workload: runs a simulated workload over many seeds, or one seed again. A failed run prints the line
// that replays it with this program. docs/simulated-faults.md explains the workloads.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/errors.h"
#include "cli/command_line.h"
#include "cli/policy_check.h"
#include "sim/workloads/churn.h"
#include "sim/workloads/ledger.h"
#include "sim/workloads/resume.h"
#include "sim/workloads/scheduler_death.h"
#include "sim/workloads/seed_sweep.h"

namespace leeway::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kFailuresShown = 5;
constexpr std::chrono::seconds kSaysEvery{5};

struct Sweep {
  std::uint64_t seed = 1, seeds = 1;
  std::uint32_t threads = std::max(1U, std::thread::hardware_concurrency());
};

// Counts finished runs, shows the first failures at once, and says now and then how far the sweep is. Calls
// must not overlap.
class SweepProgress {
 public:
  explicit SweepProgress(std::uint64_t seeds) : seeds_(seeds) {}
  template <typename Report>
  void Note(const Report& report) {
    ++done_;
    if (!report.ok() && ++failed_ <= kFailuresShown) fmt::print(stderr, "{}\n", report.Failure());
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < kSaysEvery) return;
    said_ = now;
    fmt::print(stderr, "{} of {} seeds, {} failed\n", done_, seeds_, failed_);
  }
  [[nodiscard]] std::uint64_t failed() const { return failed_; }

 private:
  const std::uint64_t seeds_;
  std::uint64_t done_ = 0, failed_ = 0;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

// Runs every seed of the sweep on several threads. `take` gets each report, one call at a time. Shows the
// first failures and returns how many there were.
template <typename Run, typename Take>
std::uint64_t RunSeeds(const Sweep& sweep, Run run, Take take) {
  SweepProgress progress(sweep.seeds);
  SweepSeeds(sweep.seed, sweep.seeds, sweep.threads, run, [&](std::uint64_t, const auto& report) {
    take(report);
    progress.Note(report);
    return true;
  });
  return progress.failed();
}

Json ToJson(const ChurnCounts& counts) {
  return {{"crashes", counts.crashes},
          {"pauses", counts.pauses},
          {"restarts", counts.restarts},
          {"fenced", counts.fenced},
          {"joined_late", counts.joined_late},
          {"left", counts.left},
          {"gone", counts.gone},
          {"server_crashes", counts.server_crashes},
          {"server_pauses", counts.server_pauses},
          {"server_usurped", counts.server_usurped},
          {"server_restarts", counts.server_restarts},
          {"server_fenced", counts.server_fenced},
          {"scheduler_crashes", counts.scheduler_crashes},
          {"scheduler_power_losses", counts.scheduler_power_losses},
          {"scheduler_pauses", counts.scheduler_pauses},
          {"scheduler_restarts", counts.scheduler_restarts},
          {"slow_disks", counts.slow_disks},
          {"full_disks", counts.full_disks},
          {"resumed", counts.resumed},
          {"lost", counts.lost},
          {"certain", counts.certain},
          {"uncertain", counts.uncertain},
          {"uncertain_taken", counts.uncertain_taken},
          {"rules_set", counts.rules_set},
          {"rules_unanswered", counts.rules_unanswered}};
}

Json ToJson(const SchedulerDeathCounts& counts) {
  return {{"process_crashes", counts.process_crashes},
          {"power_losses", counts.power_losses},
          {"restarts", counts.restarts},
          {"while_gathering", counts.while_gathering},
          {"while_ending", counts.while_ending},
          {"torn_logs", counts.torn_logs},
          {"pushes_meanwhile", counts.pushes_meanwhile},
          {"worker_kills", counts.worker_kills},
          {"joined_late", counts.joined_late},
          {"full_answers", counts.full_answers},
          {"checkpoints", counts.checkpoints},
          {"consistent", counts.consistent},
          {"repeated_batches", counts.repeated_batches}};
}

Json ToJson(const ResumeCounts& counts) {
  Json json;
  for (const auto& [name, count] : ResumeCounts::kNamed) json[name] = counts.*count;
  return json;
}

Json ToJson(const LedgerTotals& t) {
  Json faults;
  for (std::size_t i = 0; i < kFaultKinds; ++i)
    faults[std::string(FaultKindName(static_cast<FaultKind>(i)))] = t.faults.kinds[i];
  return {{"trace_hash", fmt::format("{:016x}", t.trace_hash)},
          {"frames", t.frames},
          {"applied", t.verdicts.applied},
          {"summed", t.verdicts.summed},
          {"absent", t.verdicts.absent},
          {"late_dropped", t.verdicts.late_dropped},
          {"refused", t.verdicts.refused},
          {"repeated", t.servers.repeated},
          {"gaps", t.servers.gaps},
          {"fenced", t.servers.fenced},
          {"windows", t.servers.windows},
          {"resent", t.resent},
          {"reconnects", t.reconnects},
          {"faults", faults},
          {"cuts_inside_frame", t.faults.cuts_inside_frame},
          {"cuts_before_verdict", t.faults.cuts_before_verdict}};
}

// The shared parts of all workloads: seeds, a synchronization model, and the display of the result.
class WorkloadCommand : public app::Command {
 public:
  std::string lesson() const override {
    return fmt::format(
        "Options that are not given are drawn from the seed. Exit code {} if a run failed. Sync models: "
        "{}.\n",
        app::kFailedExitCode, app::KnownSyncModels());
  }
  void Declare(app::FlagSet& flags) override {
    flags.Number("--seed", "S", sweep_.seed, 0, ~0ULL, "the first seed");
    flags.Number("--seeds", "N", sweep_.seeds, 1, 100'000'000, "how many seeds");
    flags.Number("--threads", "N", sweep_.threads, 1, 256, "runs at a time");
    flags.Text("--sync", "SPEC", sync_, "synchronization model [default: drawn]", app::CheckBuiltinSync);
    flags.Switch("--json", json_, "one JSON object on one line");
  }

 protected:
  [[nodiscard]] int Show(std::uint64_t failed, const Json& counts) const {
    Json json = {{"runs", sweep_.seeds}, {"failed", failed}};
    json.update(counts);
    fmt::print("{}\n", json.dump(json_ ? -1 : 2));
    return failed == 0 ? 0 : app::kFailedExitCode;
  }
  template <typename Counts, typename Run>
  [[nodiscard]] int RunAll(Run run) const {
    Counts counts;
    const std::uint64_t failed =
        RunSeeds(sweep_, run, [&counts](const auto& report) { counts += report.counts; });
    return Show(failed, ToJson(counts));
  }

  Sweep sweep_;
  std::string sync_;
  bool json_ = false;
};

class LedgerCommand final : public WorkloadCommand {
 public:
  std::string name() const override { return "ledger"; }
  std::string summary() const override {
    return "every push adds 1 to cells of its own; at the end each cell must equal the verdicts";
  }
  void Declare(app::FlagSet& flags) override {
    WorkloadCommand::Declare(flags);
    flags.Text("--apply", "SPEC", options_.apply, "apply mode [default: drawn, or the model's own]");
    flags.Number("-w,--workers", "N", options_.workers, 0, 64, "workers; 0: drawn");
    flags.Number("-s,--servers", "N", options_.servers, 0, 16, "servers; 0: drawn");
    flags.Number("--shards", "N", options_.shards, 0, 16, "shards per server; 0: drawn");
    flags.Number("--iterations", "N", options_.iterations, 0, 100'000,
                 "of the worker that makes most; 0: drawn");
    flags.Number("--switches", "N", options_.switches, 0, 1'000, "how often a worker sets another model");
    flags.SwitchOff("--no-faults", options_.faults, "a network in which nothing goes wrong");
  }
  Result<int> Run() override {
    if (!options_.apply.empty()) {
      if (sync_.empty()) return InvalidArgument("--apply: given without --sync, wanted both or neither");
      const Status fits = app::CheckApply(Policies::Builtin(), sync_, options_.apply);
      if (!fits.ok()) return InvalidArgument("--apply with --sync {}: {}", sync_, fits.message());
    }
    options_.sync = sync_;
    SweepProgress progress(sweep_.seeds);
    const auto note = [&progress](const LedgerReport& report) {
      progress.Note(report);
      return true;
    };
    const LedgerTotals totals = LedgerSweep(sweep_.seed, sweep_.seeds, options_, note, sweep_.threads);
    return Show(totals.failed, ToJson(totals));
  }

 private:
  LedgerOptions options_;
};

class ChurnCommand final : public WorkloadCommand {
 public:
  explicit ChurnCommand(bool all_roles) { options_.all_roles = all_roles; }
  std::string name() const override { return options_.all_roles ? "faults" : "churn"; }
  std::string summary() const override {
    return options_.all_roles
               ? "every role is killed, stopped and started again, disks are slow and full; the books "
                 "of every life must be right"
               : "workers are killed, stopped and started again; the books of every life must be right";
  }
  void Declare(app::FlagSet& flags) override {
    WorkloadCommand::Declare(flags);
    flags.SwitchOff("--no-faults", options_.faults, "a network in which nothing goes wrong");
    flags.Switch("--states", options_.states, "checkpoints are written, with a state of every worker");
    flags.Number("--switches", "N", options_.switches, 0, 1'000, "how often a worker sets another model");
  }
  Result<int> Run() override {
    options_.sync = sync_;
    return RunAll<ChurnCounts>([this](std::uint64_t seed) {
      ChurnOptions one = options_;
      one.seed = seed;
      return RunChurn(one);
    });
  }

 private:
  ChurnOptions options_;
};

class ResumeCommand final : public WorkloadCommand {
 public:
  std::string name() const override { return "resume"; }
  std::string summary() const override {
    return "a job loses all power and goes on from its checkpoints; no push counts twice, every loss is "
           "reported";
  }
  Result<int> Run() override {
    return RunAll<ResumeCounts>([this](std::uint64_t seed) { return RunResume({seed, sync_}); });
  }
};

class SchedulerDeathCommand final : public WorkloadCommand {
 public:
  std::string name() const override { return "scheduler-death"; }
  std::string summary() const override {
    return "the scheduler dies and goes on from its log; the job must not notice";
  }
  void Declare(app::FlagSet& flags) override {
    WorkloadCommand::Declare(flags);
    flags.SwitchOff("--no-faults", faults_, "a network in which nothing goes wrong");
  }
  Result<int> Run() override {
    return RunAll<SchedulerDeathCounts>([this](std::uint64_t seed) {
      return RunSchedulerDeath({seed, sync_, faults_});
    });
  }

 private:
  bool faults_ = true;
};

}  // namespace
}  // namespace leeway::sim

int main(int argc, char** argv) {
  using namespace leeway;
  app::Commands commands;
  commands.push_back(std::make_unique<sim::LedgerCommand>());
  commands.push_back(std::make_unique<sim::ChurnCommand>(false));
  commands.push_back(std::make_unique<sim::ChurnCommand>(true));
  commands.push_back(std::make_unique<sim::ResumeCommand>());
  commands.push_back(std::make_unique<sim::SchedulerDeathCommand>());
  const app::ProgramText text{
      "leeway_workload",
      "Simulated jobs under faults, with books of every push. The same seed and commit "
      "give the same run.",
      "Start here:\n  leeway_workload ledger --seed 7\n"};
  return app::RunCommandLine(text, commands, {argv + 1, argv + argc});
}
