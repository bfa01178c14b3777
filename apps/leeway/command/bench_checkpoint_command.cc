#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/errors.h"
#include "bench/busy.h"
#include "bench/child.h"
#include "bench/figures.h"
#include "cli/policy_check.h"
#include "command/bench_script.h"
#include "command/commands.h"
#include "launch/launcher.h"
#include "system/text_file.h"
#include "terminal/error_output.h"
#include "transport/system/descriptor.h"

namespace leeway::app {
namespace {

constexpr int kLookMs = 100;        // how often to see whether a job still runs
constexpr int kTurnLooksMax = 600;  // a minute for a turn, or for the start of a job
constexpr int kEndLooksMax = 200;

// A job in a process of its own (its launcher's) that trains a turn, with checkpoints or without, when it is
// told to.
class TurnJob {
 public:
  // `options` without the pipes. REQUIRES: the process has no other threads.
  static Result<std::unique_ptr<TurnJob>> Start(const Program& program, LaunchOptions options,
                                                const std::string& folder) {
    const std::string go = folder + "/go", took = folder + "/took";
    auto job = std::make_unique<TurnJob>();
    for (const auto& [path, end] : {std::pair(go, &job->go_), std::pair(took, &job->took_)}) {
      // Open for both, so that it neither waits for the other side nor ends with it.
      if (mkfifo(path.c_str(), 0600) == 0) *end = Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
      if (end->fd() < 0) return ResourceExhausted("cannot make the pipe {}: {}", path, std::strerror(errno));
    }
    job->lines_ = bench::LineReader(job->took_.fd());
    for (const std::string& word : {std::string("--go"), go, std::string("--took"), took})
      options.command.push_back(word);
    job->child_ = std::make_unique<bench::Child>([&](bench::Child::Parent&) {
      options.command.insert(options.command.end(), {"--launcher", std::to_string(getpid())});
      const Result<int> code = LaunchJob(program, options);
      if (!code.ok()) PrintError("leeway: {}\n", code.status().message());
      return code.ok() ? *code : 1;
    });
    return job;
  }

  // The line that the job says next.
  Result<std::string> Hear() {
    for (int looks = 0; looks < kTurnLooksMax; ++looks) {
      Result<std::string> line = lines_.Next(std::chrono::milliseconds(kLookMs));
      if (line.ok() || line.status().code() != StatusCode::kDeadlineExceeded) return line;
      if (child_->Ended()) return Unavailable("a job of the bench ended before its turns were over");
    }
    return DeadlineExceeded("a job of the bench said nothing for {} s", kTurnLooksMax * kLookMs / 1000);
  }

  Result<double> Train(bool writes) {
    const std::string_view word = writes ? "with\n" : "without\n";
    if (write(go_.fd(), word.data(), word.size()) != static_cast<ssize_t>(word.size()))
      return Unavailable("cannot reach a job of the bench: {}", std::strerror(errno));
    LW_ASSIGN_OR_RETURN(const std::string line, Hear());
    double seconds = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), seconds).ec != std::errc{} || seconds <= 0)
      return InvalidArgument("got \"{}\" from the bench's script, wanted the seconds of a turn", line);
    return seconds;
  }

  // REQUIRES: all turns are over.
  Status End() {
    for (int looks = 0; looks < kEndLooksMax; ++looks) {
      if (const std::optional<int> code = child_->Ended()) {
        if (*code == 0) return Status::Ok();
        return Unavailable("a job of the bench ended with {}, wanted 0", *code);
      }
      poll(nullptr, 0, kLookMs);
    }
    return DeadlineExceeded("a job of the bench did not end");
  }

 private:
  Descriptor go_, took_;
  bench::LineReader lines_;  // of took_
  std::unique_ptr<bench::Child> child_;
};

class BenchCheckpointCommand final : public Command {
 public:
  explicit BenchCheckpointCommand(const Program& program)
      : program_(program),
        script_(program, "bench/checkpoint.py"),
        folder_(program.environment.Get("TMPDIR").value_or("/tmp")) {}

  std::string name() const override { return "bench checkpoint"; }
  std::string summary() const override {
    return "measure what checkpoints cost a training job: turns with them beside turns without";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench checkpoint\n"
           "  leeway bench checkpoint --every 10 --sync asp --json\n\n"
           "One job trains the CNN of examples/fashion_mnist.py in turns of about a second, every other one "
           "with checkpoints.\n"
           "A step is one batch of any worker. About two minutes; docs/performance.md says what the fields "
           "mean.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Number("-w,--workers", "N", workers_, 1, 64, "workers of the job");
    flags.Number("-s,--servers", "N", servers_, 1, 64, "servers of the job");
    flags.Text("--sync", "MODEL", sync_, "synchronization model", CheckBuiltinSync);
    flags.Number("--every", "N", every_, 1, 1'000'000, "a checkpoint every so many iterations");
    flags.Number("--steps", "N", steps_, 10, 900, "batches of a turn");
    flags.Number("--pairs", "N", pairs_, 1, 1000, "turns with checkpoints, and as many without");
    flags.Text("--folder", "FOLDER", folder_, "checkpoints go into a folder in this one, and are removed");
    script_.Declare(flags);
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    const bench::BusyMeter meter;
    LW_ASSIGN_OR_RETURN(const std::string folder, script_.MakeFolder(folder_));
    std::error_code error;
    std::filesystem::create_directories(folder + "/checkpoints", error);
    LW_ASSIGN_OR_RETURN(const LaunchOptions options, Options(folder));
    LW_ASSIGN_OR_RETURN(const std::unique_ptr<TurnJob> job, TurnJob::Start(program_, options, folder));
    // Ctrl-C reaches the job too: it ends, and this one sees it and cleans up.
    std::signal(SIGINT, SIG_IGN);
    LW_RETURN_IF_ERROR(job->Hear().status());
    std::vector<double> rates[2], ratios;  // without, with
    for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
      for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t which = (pair + i) % 2;  // each goes first as often as the other
        LW_ASSIGN_OR_RETURN(const double seconds, job->Train(which == 1));
        rates[which].push_back(steps_ / seconds);
      }
      ratios.push_back(rates[1].back() / rates[0].back());
    }
    LW_RETURN_IF_ERROR(job->End());
    LW_ASSIGN_OR_RETURN(const std::uint64_t checkpoints, CountCheckpoints(options.summary_json));
    Print(rates[0], rates[1], ratios, checkpoints, meter.End());
    return 0;
  }

 private:
  [[nodiscard]] Result<LaunchOptions> Options(const std::string& folder) const {
    LaunchOptions options;
    options.scheduler.job.job = fmt::format("bench-{}", getpid());
    options.scheduler.job.workers = workers_;
    options.scheduler.job.servers = servers_;
    options.scheduler.job.sync = sync_;
    options.scheduler.checkpoint.folder = folder + "/checkpoints";
    LW_ASSIGN_OR_RETURN(options.command, script_.Command());
    options.command.insert(options.command.end(),
                           {"--steps", std::to_string(steps_), "--turns", std::to_string(2 * pairs_),
                            "--every", std::to_string(every_)});
    options.summary_json = folder + "/summary.json";
    options.quiet = true;
    // The example's learning rate follows the pool, so under bsp servers warn of rates that differ.
    options.log_level = LogLevel::kError;
    return options;
  }

  // Of a job that is over. One without any would be no measurement.
  static Result<std::uint64_t> CountCheckpoints(const std::string& summary_json) {
    LW_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(summary_json));
    const auto summary = nlohmann::json::parse(text, nullptr, false);
    const nlohmann::json::json_pointer place("/status/checkpoints/completed");
    if (summary.is_discarded() || !summary.contains(place) || !summary[place].is_number_unsigned() ||
        summary[place] == 0)
      return FailedPrecondition("the job wrote no checkpoint; try more --steps or a smaller --every");
    return summary[place].get<std::uint64_t>();
  }

  void Print(const std::vector<double>& plain, const std::vector<double>& with,
             const std::vector<double>& ratios, std::uint64_t checkpoints, const bench::Busy& busy) const {
    const double ratio = bench::Median(ratios);
    std::vector<float> sorted(ratios.begin(), ratios.end());
    const double low = bench::Quantile(sorted, 0.25), high = bench::Quantile(sorted, 0.75);
    if (json_) {
      const std::string line = bench::JsonLine()
                                   .Text("bench", "checkpoint")
                                   .Whole("workers", workers_)
                                   .Whole("servers", servers_)
                                   .Text("sync", sync_)
                                   .Whole("every", every_)
                                   .Whole("steps", steps_)
                                   .Whole("pairs", pairs_)
                                   .Real("steps_s", bench::Median(with), 5)
                                   .Real("plain_steps_s", bench::Median(plain), 5)
                                   .Real("ratio", ratio)
                                   .Real("ratio_p25", low)
                                   .Real("ratio_p75", high)
                                   .Real("cost_percent", (1 - ratio) * 100, 3)
                                   .Real("spread", bench::Spread(with), 3)
                                   .Real("plain_spread", bench::Spread(plain), 3)
                                   .Whole("checkpoints", checkpoints)
                                   .All(bench::JsonOf(busy))
                                   .Done();
      fmt::print("{}\n", line);
      return;
    }
    fmt::print(
        "{} workers, {} servers, {}; {} pairs of turns of {} steps, {} checkpoints\n"
        "without  {:8.1f} steps/s  spread {:.0f} %\n"
        "with     {:8.1f} steps/s  spread {:.0f} %\n"
        "ratio {:.3f} (half of the pairs: {:.3f} to {:.3f}): a checkpoint every {} iterations costs {:.1f} % "
        "of the steps per second\n",
        workers_, servers_, sync_, pairs_, steps_, checkpoints, bench::Median(plain),
        bench::Spread(plain) * 100, bench::Median(with), bench::Spread(with) * 100, ratio, low, high, every_,
        (1 - ratio) * 100);
    fmt::print("{}", bench::TextOf(busy));
  }

  const Program& program_;
  BenchScript script_;
  std::string folder_, sync_ = "bsp";
  std::uint32_t workers_ = 2, servers_ = 1, steps_ = 100, pairs_ = 41;
  std::uint64_t every_ = 50;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchCheckpointCommand(const Program& program) {
  return std::make_unique<BenchCheckpointCommand>(program);
}

}  // namespace leeway::app
