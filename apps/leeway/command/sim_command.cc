#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/errors.h"
#include "cli/command_line.h"
#include "cli/quantity.h"
#include "command/commands.h"
#include "launch/screen.h"
#include "role/policy_check.h"
#include "scenario/keys.h"
#include "sim/workloads/churn.h"
#include "sim/workloads/ledger.h"
#include "sim/workloads/resume.h"
#include "sim/workloads/scheduler_death.h"
#include "sim/workloads/timeline.h"
#include "simulate/simulate.h"

namespace leeway::app {
namespace {

constexpr std::uint64_t kFailuresShown = 5;

// The bar over seeds: redrawn on a terminal, a line every few seconds elsewhere.
class SeedBar {
 public:
  explicit SeedBar(std::uint64_t seeds) : seeds_(seeds), screen_(Screen::StderrIsTerminal()) {}

  void Add(bool ok, std::uint64_t frames) {
    ++done_;
    frames_ += frames;
    failed_ += ok ? 0 : 1;
    const auto now = std::chrono::steady_clock::now();
    const auto every = std::chrono::milliseconds(screen_.terminal() ? 100 : 5'000);
    if (now - shown_ < every) return;
    shown_ = now;
    const double s = std::chrono::duration<double>(now - begin_).count();
    const double share = static_cast<double>(done_) / static_cast<double>(seeds_);
    const std::size_t filled = static_cast<std::size_t>(share * kColumns);
    const std::string text = fmt::format("[{}{}] {} of {} seeds  {} failed  {} frames/s  {}, {} left",
                                         std::string(filled, '='), std::string(kColumns - filled, ' '), done_,
                                         seeds_, failed_, ShortCount(static_cast<double>(frames_) / s),
                                         ShortTime(s), ShortTime(s * (1 - share) / share));
    if (screen_.terminal()) {
      screen_.Bar(text);
    } else {
      screen_.Line(2, "leeway: ", text);
    }
  }

 private:
  static constexpr std::size_t kColumns = 24;
  const std::uint64_t seeds_;
  Screen screen_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_ = begin_;
  std::uint64_t done_ = 0, failed_ = 0, frames_ = 0;
};

nlohmann::json ToJson(const sim::LedgerTotals& t) {
  nlohmann::json faults;
  for (std::size_t i = 0; i < sim::kFaultKinds; ++i) {
    faults[std::string(sim::FaultKindName(static_cast<sim::FaultKind>(i)))] = t.faults.kinds[i];
  }
  faults["cuts_inside_frame"] = t.faults.cuts_inside_frame;
  faults["cuts_before_verdict"] = t.faults.cuts_before_verdict;
  nlohmann::json failures = nlohmann::json::array();
  for (const sim::LedgerReport& report : t.failures) {
    failures.push_back(
        {{"seed", report.options.seed}, {"replay", report.replay}, {"problems", report.problems}});
  }
  return {{"runs", t.runs},
          {"failed", t.failed},
          {"trace_hash", fmt::format("{:016x}", t.trace_hash)},
          {"frames", t.frames},
          {"events", t.events},
          {"wall_s", t.wall_s},
          {"verdicts",
           {{"applied", t.verdicts.applied},
            {"summed", t.verdicts.summed},
            {"absent", t.verdicts.absent},
            {"late_dropped", t.verdicts.late_dropped},
            {"refused", t.verdicts.refused}}},
          {"servers",
           {{"repeated", t.servers.repeated},
            {"gaps", t.servers.gaps},
            {"fenced", t.servers.fenced},
            {"windows", t.servers.windows},
            {"delayed", t.servers.delayed},
            {"switches", t.servers.switches},
            {"late_applied", t.servers.late_applied},
            {"advances", t.servers.advances}}},
          {"resent", t.resent},
          {"reconnects", t.reconnects},
          {"faults", faults},
          {"failures", failures}};
}

std::string ToText(const sim::LedgerTotals& t) {
  std::string text = fmt::format("{} runs, {} failed, {:.1f} s, trace hash {:016x}\n", t.runs, t.failed,
                                 t.wall_s, t.trace_hash);
  text += fmt::format(
      "  verdicts  applied {}, summed {}, absent {}, late {}, refused {}; repeated {}, gaps {}, fenced {}, "
      "windows {}\n",
      t.verdicts.applied, t.verdicts.summed, t.verdicts.absent, t.verdicts.late_dropped, t.verdicts.refused,
      t.servers.repeated, t.servers.gaps, t.servers.fenced, t.servers.windows);
  text += "  faults    ";
  for (std::size_t i = 0; i < sim::kFaultKinds; ++i) {
    text += fmt::format("{} {}, ", sim::FaultKindName(static_cast<sim::FaultKind>(i)), t.faults.kinds[i]);
  }
  text += fmt::format("inside a frame {}, before a verdict {}\n", t.faults.cuts_inside_frame,
                      t.faults.cuts_before_verdict);
  text += fmt::format("  traffic   {} frames, {} reconnects, {} pushes resent\n", t.frames, t.reconnects,
                      t.resent);
  return text;
}

class SimCommand final : public Command {
 public:
  std::string name() const override { return "sim"; }
  std::string summary() const override {
    return "simulate a training job from a scenario file, or test the cluster under faults";
  }
  std::string lesson() const override {
    return fmt::format(
        "Examples:\n"
        "  leeway sim scenarios/uneven.toml\n"
        "  leeway sim scenarios/uneven.toml --set cluster.workers=64 --sweep policies.sync=bsp,ssp:3,asp "
        "--seeds 5\n"
        "  leeway sim scenarios/uneven.toml --sweep 'policies.sync=ssp:3;pssp:3,0.3' --report out.html\n"
        "  leeway sim scenarios/uneven.toml --set record.timeline_s=5 --trace out.json\n"
        "  leeway sim --from-run run.json --sweep policies.sync=bsp,ssp:3,asp\n"
        "  leeway sim --keys\n\n"
        "A scenario file says what cluster trains what, and how; docs/simulator.md explains it. The same "
        "file and seeds\n"
        "give the same report. --sweep may be given several times; values with commas are parted by \";\". "
        "--trace opens\n"
        "in ui.perfetto.dev. --from-run predicts a real run from its record (leeway run --record), beside "
        "what "
        "was measured,\n"
        "and with --set and --sweep other runs on the same machines: docs/calibration.md. Without a file, a "
        "workload tests the cluster's own code:\n\n"
        "  leeway sim --workload ledger --seed 7\n"
        "  leeway sim --workload ledger --seeds 5000 --json\n"
        "  leeway sim --workload ledger --seeds 100 --sync ssp:2 --workers 4 --shards 2\n"
        "  leeway sim --workload ledger --seeds 1000 --switches 6\n"
        "  leeway sim --workload faults --seeds 1000\n"
        "  leeway sim --workload resume --seeds 1000\n"
        "  leeway sim --workload scheduler-death --seeds 1000\n"
        "  leeway sim --workload timeline --sync ssp:3 --pace 10,12,15,40\n\n"
        "timeline: what workers of uneven pace do when, under one synchronization model, as text or JSON.\n"
        "faults: every role is killed, stopped and started again, disks are slow and full, while checkpoints "
        "are\n"
        "written; the books of every life must be right. churn: the same for workers alone.\n"
        "resume: a job loses all power and goes on from its checkpoints, under every model, with pools; "
        "nothing is\n"
        "counted twice, and what is missing was reported.\n"
        "scheduler-death: the scheduler dies and goes on from its log; the job must not notice.\n"
        "ledger: every push adds 1 to cells of its own; at the end each cell must equal the verdicts. The "
        "same seed and\n"
        "commit give the same trace hash; a failure prints the line that replays it. Exit code {} if a run "
        "failed.\n"
        "What is not given is drawn from the seed. Sync models: {}.\n",
        kFailedExitCode, KnownSyncModels());
  }

  void Declare(FlagSet& flags) override {
    flags.Words("SCENARIO", words_, 0, 1, "a scenario file");
    flags.Each(
        "--set", "KEY=VALUE", [this](const std::string& text) { return Keep(text, simulate_.sets); },
        "of the scenario, over what the file says");
    flags.Each(
        "--sweep", "KEY=A,B,...", [this](const std::string& text) { return Keep(text, simulate_.sweeps); },
        "runs for each of the values, instead of the file's own sweeps");
    flags.Text("--from-run", "FILE", simulate_.from_run,
               "instead of a scenario file: the record of a real run, which leeway run --record wrote");
    flags.Switch("--quick", simulate_.quick, "the short form that the file has of itself");
    flags.Text("--report", "FILE", simulate_.report, "an HTML page of a scenario's results");
    flags.Text("--trace", "FILE", simulate_.trace, "what workers did when, for Perfetto");
    flags.Switch("--keys", keys_, "lists everything that a scenario can say");
    flags.Text("--workload", "NAME", workload_, "what the cluster does", [](const std::string& name) {
      const std::vector<std::string> known{"ledger", "churn",           "faults",
                                           "resume", "scheduler-death", "timeline"};
      return std::ranges::count(known, name) > 0 ? Status::Ok()
                                                 : NotFound(
                                                       "unknown workload \"{}\"; known: ledger, churn, "
                                                       "faults, resume, scheduler-death, timeline{}",
                                                       name, DidYouMean(name, known));
    });
    flags.Number("--seed", "S", options_.seed, 0, ~0ULL, "the first seed");
    flags.Number("--seeds", "N", seeds_, 0, 100'000'000, "how many seeds; 0: as the scenario says, else one");
    flags.Text("--sync", "SPEC", options_.sync, "synchronization model [default: drawn]", CheckSync);
    flags.Text("--apply", "SPEC", options_.apply, "apply mode [default: drawn, or the model's own]");
    flags.Number("-w,--workers", "N", options_.workers, 0, 64, "workers; 0: drawn");
    flags.Number("-s,--servers", "N", options_.servers, 0, 16, "servers; 0: drawn");
    flags.Number("--shards", "N", options_.shards, 0, 16, "shards per server; 0: drawn");
    flags.Number("--iterations", "N", options_.iterations, 0, 100'000,
                 "of the worker that makes most; 0: drawn");
    flags.Number("--switches", "N", options_.switches, 0, 1'000,
                 "ledger, churn, faults: how often a worker sets another model, drawn from all");
    flags.Switch("--no-faults", no_faults_, "a network in which nothing goes wrong");
    flags.Text("--pace", "MS,...", pace_, "timeline: milliseconds of a step, of each worker",
               [](const std::string& text) { return ParsePace(text).status(); });
    flags.Switch("--states", states_, "churn: checkpoints are written, with a state of every worker");
    flags.Number("--threads", "N", threads_, 1, 256, "runs at a time");
    flags.OptionalText("--json", "FILE", json_, simulate_.json, "one JSON object, on stdout or in a file");
  }

  Result<int> Run() override {
    if (keys_) return ListKeys();
    if (!words_.empty() && !simulate_.from_run.empty())
      return InvalidArgument("got the scenario file {} and --from-run, wanted one of them", words_[0]);
    if (!words_.empty() || !simulate_.from_run.empty()) return RunScenarioFile();
    if (!simulate_.sets.empty() || !simulate_.sweeps.empty() || simulate_.quick ||
        !simulate_.report.empty() || !simulate_.trace.empty() || !simulate_.json.empty()) {
      return InvalidArgument(
          "got no scenario file and no --from-run; --set, --sweep, --quick, --report, --trace and --json "
          "FILE "
          "want one of them");
    }
    if (workload_.empty()) return InvalidArgument("{}", NothingGiven());
    seeds_ = std::max<std::uint64_t>(seeds_, 1);
    if (!options_.apply.empty()) {
      if (options_.sync.empty())
        return InvalidArgument("--apply: given without --sync, wanted both or neither");
      const Status fits = CheckApply(options_.sync, options_.apply);
      if (!fits.ok()) return InvalidArgument("--apply with --sync {}: {}", options_.sync, fits.message());
    }
    options_.faults = !no_faults_;
    if (states_ && workload_ != "churn")
      return InvalidArgument("--states: of --workload churn only, got {}", workload_);
    if (workload_ == "timeline") {
      if (no_faults_ || seeds_ != 1 ||
          options_.workers + options_.servers + options_.shards + options_.iterations + options_.switches >
              0) {
        return InvalidArgument(
            "--workload timeline takes --seed, --sync, --apply, --pace (one worker for each number) and "
            "--json");
      }
      return RunTimeline();
    }
    if (!pace_.empty()) return InvalidArgument("--pace: of --workload timeline only, got {}", workload_);
    if (workload_ == "ledger") return RunLedger();
    if (!options_.apply.empty() ||
        options_.workers + options_.servers + options_.shards + options_.iterations > 0) {
      return InvalidArgument(
          "--workload {} takes --seed, --seeds, --sync, --no-faults, --states and --switches; the rest is "
          "drawn",
          workload_);
    }
    if (options_.switches > 0 && workload_ == "scheduler-death")
      return InvalidArgument("--switches: of --workload ledger, churn and faults only, got {}", workload_);
    if (workload_ == "resume") return RunResume();
    return workload_ == "scheduler-death" ? RunSchedulerDeath() : RunChurn();
  }

 private:
  static std::string NothingGiven() {
    return "got neither a scenario file nor --from-run nor --workload, wanted one of them:\n"
           "  leeway sim scenarios/uneven.toml              what a job would do on a cluster\n"
           "  leeway sim --from-run run.json                what a recorded run would do otherwise\n"
           "  leeway sim --workload ledger --seeds 100      tests the cluster's own code under faults\n"
           "  leeway sim --keys                             everything that a scenario can say";
  }

  static Status Keep(const std::string& text, std::vector<std::string>& list) {
    list.push_back(text);
    return Status::Ok();
  }

  static Result<int> ListKeys() {
    std::vector<scenario::KeyText> keys = scenario::KeysOf({});
    std::ranges::move(StudyKeys(), std::back_inserter(keys));
    for (const scenario::KeyText& key : keys) {
      fmt::print("{:<26} {} [{}]\n{:<26} {}\n", key.key, key.help, key.value, "", key.wanted);
    }
    return 0;
  }

  Result<int> RunScenarioFile() {
    if (!options_.sync.empty() || !options_.apply.empty() || !pace_.empty() || no_faults_ || states_ ||
        options_.workers + options_.servers + options_.shards + options_.iterations + options_.switches > 0) {
      return InvalidArgument(
          "a scenario file takes --set, --sweep, --seed, --seeds, --threads, --quick, --json, --report and "
          "--trace; "
          "what the job is stands in the file: --set policies.sync=ssp:3");
    }
    if (seeds_ > 10'000)
      return InvalidArgument("--seeds: got {}, wanted at most 10000 of a scenario", seeds_);
    if (!words_.empty()) simulate_.file = words_[0];
    simulate_.seed = options_.seed;
    simulate_.seeds = static_cast<std::uint32_t>(seeds_);
    simulate_.threads = threads_;
    if (json_ && simulate_.json.empty()) simulate_.json = "-";
    return Simulate(simulate_);
  }

  static Result<std::vector<Duration>> ParsePace(const std::string& text) {
    std::vector<Duration> pace;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      double ms = 0;
      const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, ms);
      if (error != std::errc{} || rest != text.data() + end || !(ms >= 0.1 && ms <= 10'000))
        return InvalidArgument("got \"{}\" in \"{}\", wanted milliseconds from 0.1 to 10000: 10,12,15,40",
                               text.substr(at, end - at), text);
      pace.push_back(std::chrono::round<Duration>(std::chrono::duration<double, std::milli>(ms)));
      at = end + 1;
    }
    if (pace.size() > 64) return InvalidArgument("got {} workers, wanted at most 64", pace.size());
    return pace;
  }

  Result<int> RunTimeline() const {
    sim::TimelineOptions options;
    options.seed = options_.seed;
    if (!options_.sync.empty()) options.sync = options_.sync;
    options.apply = options_.apply;
    if (!pace_.empty()) {
      LW_ASSIGN_OR_RETURN(options.steps, ParsePace(pace_));
    }
    options.length = 10 * *std::ranges::max_element(options.steps);
    const sim::TimelineReport report = sim::RunTimeline(options);
    for (const std::string& problem : report.problems) fmt::print(stderr, "{}\n", problem);
    if (!report.problems.empty()) return kFailedExitCode;
    const auto ms = [](Duration time) { return std::chrono::duration<double, std::milli>(time).count(); };
    if (!json_) {
      fmt::print("{}: {} delayed pulls, {} late pushes dropped; # and = compute, . waits\n{}", options.sync,
                 report.delayed, report.late_dropped,
                 sim::TimelineText(options, report, options.length / 80));
      return 0;
    }
    nlohmann::json spans = nlohmann::json::array();
    for (const sim::TimelineSpan& span : report.spans) {
      spans.push_back({{"worker", span.worker},
                       {"iteration", span.iteration},
                       {"asked_ms", ms(span.asked)},
                       {"began_ms", ms(span.began)},
                       {"ended_ms", ms(span.ended)}});
    }
    const nlohmann::json json = {
        {"sync", options.sync},      {"workers", options.steps.size()},     {"length_ms", ms(options.length)},
        {"delayed", report.delayed}, {"late_dropped", report.late_dropped}, {"spans", spans}};
    fmt::print("{}\n", json.dump());
    return 0;
  }

  // One seed after another; adds up their counts, shows the first failures, and says how many there were.
  template <typename Counts, typename Workload>
  std::uint64_t Sweep(Counts& counts, Workload run) const {
    std::uint64_t failed = 0;
    SeedBar bar(seeds_);
    for (std::uint64_t seed = options_.seed; seed < options_.seed + seeds_; ++seed) {
      const auto report = run(seed);
      counts += report.counts;
      failed += report.ok() ? 0 : 1;
      if (!report.ok() && failed <= kFailuresShown) fmt::print(stderr, "{}\n", report.Failure());
      bar.Add(report.ok(), report.frames);
    }
    return failed;
  }

  Result<int> RunChurn() const {
    sim::ChurnCounts counts;
    const std::uint64_t failed = Sweep(counts, [this](std::uint64_t seed) {
      return sim::RunChurn(
          {seed, options_.sync, options_.faults, workload_ == "faults", states_, options_.switches});
    });
    const nlohmann::json json = {{"runs", seeds_},
                                 {"failed", failed},
                                 {"crashes", counts.crashes},
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
    if (json_) {
      fmt::print("{}\n", json.dump());
    } else {
      fmt::print("{} runs, {} failed\n", seeds_, failed);
      fmt::print(
          "  workers   killed {}, stopped {}, started again {}, fenced {}, joined late {}, ended well {}, "
          "gone for good {}\n",
          counts.crashes, counts.pauses, counts.restarts, counts.fenced, counts.joined_late, counts.left,
          counts.gone);
      fmt::print("  servers   killed {}, stopped {}, usurped {}, started again {}, fenced {}\n",
                 counts.server_crashes, counts.server_pauses, counts.server_usurped, counts.server_restarts,
                 counts.server_fenced);
      fmt::print("  scheduler killed {}, without power {}, stopped {}, started again {}\n",
                 counts.scheduler_crashes, counts.scheduler_power_losses, counts.scheduler_pauses,
                 counts.scheduler_restarts);
      fmt::print("  disks     slow {}, full {}\n", counts.slow_disks, counts.full_disks);
      fmt::print("  blocks gone on with {}, pushes reported lost {}, cells known exactly {}\n",
                 counts.resumed, counts.lost, counts.certain);
      fmt::print("  pushes of killed lives without a verdict: {}, of which the values hold {}\n",
                 counts.uncertain, counts.uncertain_taken);
    }
    return failed == 0 ? 0 : kFailedExitCode;
  }

  Result<int> RunResume() const {
    sim::ResumeCounts counts;
    const std::uint64_t failed = Sweep(counts, [this](std::uint64_t seed) {
      return sim::RunResume({seed, options_.sync});
    });
    nlohmann::ordered_json json = {{"runs", seeds_}, {"failed", failed}};
    for (const auto& [name, count] : sim::ResumeCounts::kNamed) json[name] = counts.*count;
    fmt::print("{}\n", json.dump(json_ ? -1 : 2));
    return failed == 0 ? 0 : kFailedExitCode;
  }

  Result<int> RunSchedulerDeath() const {
    sim::SchedulerDeathCounts counts;
    const std::uint64_t failed = Sweep(counts, [this](std::uint64_t seed) {
      return sim::RunSchedulerDeath({seed, options_.sync, options_.faults});
    });
    const nlohmann::json json = {{"runs", seeds_},
                                 {"failed", failed},
                                 {"process_crashes", counts.process_crashes},
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
    fmt::print("{}\n", json.dump(json_ ? -1 : 2));
    return failed == 0 ? 0 : kFailedExitCode;
  }

  Result<int> RunLedger() {
    sim::LedgerTotals totals;
    {
      SeedBar bar(seeds_);
      const auto show = [&bar](const sim::LedgerReport& report) {
        bar.Add(report.ok(), report.frames);
        return true;
      };
      totals = sim::LedgerSweep(options_.seed, seeds_, options_, show, threads_);
    }
    for (const sim::LedgerReport& report : totals.failures) fmt::print(stderr, "{}\n", report.Failure());
    if (json_) {
      fmt::print("{}\n", ToJson(totals).dump());
    } else {
      fmt::print("{}", ToText(totals));
    }
    return totals.failed == 0 ? 0 : kFailedExitCode;
  }

  std::string workload_;
  sim::LedgerOptions options_;
  std::uint64_t seeds_ = 0;
  std::uint32_t threads_ = std::max(1U, std::thread::hardware_concurrency());
  std::string pace_;  // empty: the workload's own
  bool no_faults_ = false;
  bool states_ = false;
  bool keys_ = false;
  std::vector<std::string> words_;
  SimulateOptions simulate_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewSimCommand() { return std::make_unique<SimCommand>(); }

}  // namespace leeway::app
