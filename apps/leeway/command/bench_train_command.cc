#include <algorithm>
#include <cmath>
#include <memory>

#include "base/errors.h"
#include "base/number_from.h"
#include "bench/cluster/train.h"
#include "bench/cluster/train_check.h"
#include "bench/cluster/train_scenario.h"
#include "block/apply_mode.h"
#include "cli/policy_check.h"
#include "command/bench_report.h"
#include "command/commands.h"
#include "process/trace_file.h"
#include "role/until_ended.h"
#include "system/text_file.h"
#include "terminal/screen.h"
#include "trace/trace_parts.h"

namespace leeway::app {
namespace {

constexpr double kStepMsMin = 0.1, kStepMsMax = 3'600'000;
constexpr std::uint32_t kTrainMachinesMax = 32;
constexpr std::uint32_t kTraceSteps = 10;

class BenchTrainCommand final : public Command {
 public:
  std::string name() const override { return "bench train"; }
  std::string summary() const override {
    return "measure how fast an emulated cluster trains: true layer sizes, shaped networks, no GPUs";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench train --check\n"
           "  leeway bench train --model resnet110 --step-ms 74 --net 1gbit\n"
           "  leeway bench train --model inception-v4-slim --step-ms 680\n"
           "  leeway bench train --sync ssp:5 --exchange when_stale:5\n"
           "  leeway bench train --rows 'wait-free machines=2; wait-free placement=eps'\n"
           "  leeway bench train --model vgg16 --step-ms 400 --net 10gbit --scale 10\n"
           "  leeway bench train --rows 'wait-free' --trace out.json --trace-steps 6:10\n"
           "  leeway bench train --write-scenario mine.toml --repeats 0\n"
           "  leeway sim mine.toml\n\n"
           "Starts workers and servers as real processes, each machine in a network namespace of its own "
           "whose card has a limit. A worker exchanges the model's tensors and sleeps where a GPU would "
           "compute: a third of --step-ms forward, two thirds backward, layer by layer in proportion to "
           "multiply-adds.\n\n"
           "A row is \"alone\" (one machine without servers; always there), \"traditional\" (gradients leave "
           "after the backward pass, with a barrier before the pulls) or \"wait-free\" (each leaves when it "
           "is ready, each layer waits for its own values), and then, if wanted, sync=, apply=, pull=, "
           "exchange=, placement=, pull_at=, priorities=, cut=, machines= and servers=. Rows take turns. "
           "\"speedup\" is steps per second over the row alone, \"ceiling\" what the bytes through the most "
           "loaded card allow.\n\n"
           "It needs ip, tc and the right to make namespaces; --check says whether they are there, and which "
           "rates this host reaches. --net none needs nothing. Ctrl-C keeps the rows that are done. "
           "docs/emulated-cluster.md.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Text("-m,--model", "NAME", options_.model,
               "a layer list: resnet56, resnet110, resnet50, inception-v4, googlenet, densenet121, vgg16, "
               "alexnet, ..., or a file that ends in .layers");
    flags.Text("--step-ms", "MS", step_ms_, "compute time of one step on one machine, in milliseconds");
    flags.Number("--machines", "N", options_.machines, 1, kTrainMachinesMax,
                 "machines, each with a worker and a server");
    flags.Text("--net", "RATE", net_,
               "each direction of each machine's card: 1gbit, 250mbit; none: loopback, without namespaces");
    flags.Switch("--apart", options_.apart, "servers on machines of their own, each with a card of its own");
    flags.Number("--scale", "X", options_.scale, 1, 10'000,
                 "divide the sizes of tensors and the rate by X, for rates that this host cannot carry");
    flags.Text("--rows", "ROWS", rows_, "what is compared, parted by \";\"");
    flags.Text("--sync", "MODEL", usual_.sync, "synchronization model of rows that name none",
               With(policies_, CheckSync));
    flags.Text("--apply", "MODE", usual_.apply, "apply mode of rows that name none");
    flags.Text("--pull", "POLICY", usual_.pull, "pull policy of rows that name none", CheckPull);
    flags.Text("--exchange", "POLICY", usual_.exchange, "exchange policy of rows that name none",
               With(policies_, CheckExchange));
    flags.Text("--placement", "NAME", usual_.placement, "placement of rows that name none",
               With(policies_, CheckPlacement));
    flags.BytesOrAuto("--block-bytes", usual_.block_bytes, 4, 64U << 20, "size of a block");
    flags.Number("--steps", "N", options_.steps, 1, 1'000'000, "steps of a worker that count, in each run");
    flags.Number("--warm-up", "N", options_.warm_up, 1, 1'000'000, "steps before them that do not");
    flags.Number("--repeats", "N", options_.repeats, 0, 1'000,
                 "runs of each row, in turns; 0: only write the scenario");
    flags.Switch("--check", check_, "say what this host can emulate, and run nothing");
    flags.SwitchOff("--unchecked-rate", options_.probes,
                    "do not measure first whether the cards carry their rate");
    flags.Text("--write-scenario", "FILE", write_scenario_, "write the same cluster for leeway sim");
    flags.Text("--steps-file", "FILE", steps_file_, "write every counted step here, a JSON object a line");
    flags.Text("--trace", "FILE", trace_,
               "write a trace of the first run of the last row here, for ui.perfetto.dev");
    flags.Text("--trace-steps", "FROM:TO", trace_steps_,
               "the steps of --trace, from FROM on and below TO [default: the first 10 that count]");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    LW_RETURN_IF_ERROR(Complete());
    if (check_) {
      const bench::TrainCheck check = bench::CheckTrain(options_);
      PrintReport(check, json_);
      return check.ok() ? 0 : 1;
    }
    if (!steps_file_.empty()) LW_RETURN_IF_ERROR(CheckTextFile(steps_file_).WithContext("--steps-file"));
    if (!write_scenario_.empty()) {
      LW_ASSIGN_OR_RETURN(const std::string text, bench::TrainScenario(options_));
      LW_RETURN_IF_ERROR(WriteTextFile(write_scenario_, text).WithContext("--write-scenario"));
    }
    if (options_.repeats == 0) return 0;
    TraceParts trace;
    if (!trace_.empty()) {
      Result<TraceParts> made = TraceParts::Make(trace_, trace_steps_);
      if (!made.ok()) return made.status().WithContext("--trace");
      trace = *std::move(made);
      options_.trace = trace.options();
    }
    // Before any thread: the bench forks.
    LW_ASSIGN_OR_RETURN(SignalInbox signals, OpenStopSignals());
    Screen screen(Screen::StderrIsTerminal(), signals.fd());
    int stopped_by = 0;
    options_.stop = [&] {
      if (const std::optional<int> signal = signals.Next()) stopped_by = *signal;
      return stopped_by != 0;
    };
    options_.progress = [&](const std::string& line) { screen.Bar(line); };
    options_.ended = [&](const std::string& line) { screen.Line(2, "leeway: ", line); };
    const Result<bench::TrainReport> ran = bench::RunTrain(options_);
    screen.ClearBar();
    if (trace) {
      const Result<MergedTrace> merged = trace.Merge();
      // A trace that cannot be written is no failure of the bench.
      screen.Line(2,
                  "leeway: ", merged.ok() ? ToText(*merged, trace_) : "trace: " + merged.status().message());
    }
    if (!ran.ok()) return ran.status();
    const bench::TrainReport& report = *ran;
    PrintReport(report, json_);
    if (!steps_file_.empty()) LW_RETURN_IF_ERROR(WriteTextFile(steps_file_, bench::StepLines(report)));
    return report.stopped ? 128 + stopped_by : 0;
  }

 private:
  // Everything that can be wrong is found before a process starts.
  Status Complete() {
    const auto ms = NumberFrom<double>(step_ms_);
    if (!ms || !(*ms >= kStepMsMin && *ms <= kStepMsMax))
      return InvalidArgument("--step-ms: got \"{}\", wanted a number from {} to {}", step_ms_, kStepMsMin,
                             kStepMsMax);
    options_.step_s = *ms * 1e-3;
    options_.net.reset();
    if (net_ != "none") {
      const Result<bench::LinkRate> rate = bench::ParseLinkRate(net_);
      if (!rate.ok()) return rate.status().WithContext("--net (or none)");
      options_.net = *rate;
      if (options_.net->bits_s / options_.scale < bench::kLinkRateMin.bits_s)
        return InvalidArgument("--scale: got {}, which leaves {} of {}; wanted {} or more", options_.scale,
                               bench::PrintLinkRate(*bench::EmulatedRate(options_)),
                               bench::PrintLinkRate(*options_.net),
                               bench::PrintLinkRate(bench::kLinkRateMin));
    }
    LW_RETURN_IF_ERROR(bench::ReadTrainModel(options_.model, options_.scale).status().WithContext("--model"));
    usual_.workers = usual_.servers = options_.machines;
    Result<std::vector<bench::TrainRow>> rows = bench::ParseTrainRows(rows_, usual_);
    if (!rows.ok()) return rows.status().WithContext("--rows");
    options_.rows = *std::move(rows);
    for (const bench::TrainRow& row : options_.rows)
      LW_RETURN_IF_ERROR(CheckRow(row.job).WithContext(fmt::format("row \"{}\"", row.text)));
    if (options_.repeats == 0 && write_scenario_.empty() && !check_)
      return InvalidArgument("--repeats: got 0 without --write-scenario, wanted 1 or more");
    return CompleteTrace();
  }

  Status CompleteTrace() {
    if (trace_.empty()) {
      return trace_steps_.empty() ? Status::Ok()
                                  : InvalidArgument("--trace-steps: given without --trace FILE");
    }
    if (options_.rows.back().pass == bench::TrainPass::kAlone)
      return InvalidArgument("--trace: the last row is \"alone\", wanted one with workers and servers");
    const std::uint32_t steps = options_.warm_up + options_.steps;
    if (trace_steps_.empty()) {
      trace_steps_ = fmt::format("{}:{}", options_.warm_up, std::min(steps, options_.warm_up + kTraceSteps));
    }
    const Result<TraceWindow> window = ParseTraceSteps(trace_steps_);
    if (!window.ok()) return window.status().WithContext("--trace-steps");
    if (window->from >= Iteration(steps)) {
      return InvalidArgument("--trace-steps: got \"{}\", wanted steps below {}, of which a run has no more",
                             trace_steps_, steps);
    }
    return CheckTextFile(trace_).WithContext("--trace");
  }

  Status CheckRow(const JobOptions& job) const {
    LW_RETURN_IF_ERROR(CheckSync(policies_, job.sync));
    LW_RETURN_IF_ERROR(CheckApply(policies_, job.sync, job.apply));
    if (NamesRelay(job.apply)) {
      return InvalidArgument(
          "apply \"{}\": the workers of this program have no optimizer of their own; use apply aggregate",
          job.apply);
    }
    LW_RETURN_IF_ERROR(CheckPull(job.pull));
    LW_RETURN_IF_ERROR(CheckExchange(policies_, job.exchange));
    LW_RETURN_IF_ERROR(CheckPlacement(policies_, job.placement));
    return CheckInJob(policies_, job.sync, job);
  }

  const Policies policies_ = Policies::Builtin();
  bench::TrainOptions options_;
  JobOptions usual_;  // of rows that say nothing else
  std::string step_ms_ = "100", net_ = "1gbit", rows_ = "traditional; wait-free";
  std::string write_scenario_, steps_file_, trace_, trace_steps_;
  bool check_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchTrainCommand() { return std::make_unique<BenchTrainCommand>(); }

}  // namespace leeway::app
