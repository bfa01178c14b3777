#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/number_from.h"
#include "base/split.h"
#include "cli/command_line.h"
#include "cli/policy_check.h"
#include "command/commands.h"
#include "role/plugin_flags.h"
#include "sim/timeline.h"
#include "terminal/error_output.h"
#include "terminal/screen.h"
#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

Result<std::vector<Duration>> ParsePace(const std::string& text) {
  std::vector<Duration> pace;
  for (const std::string& part : SplitAt(text, ',')) {
    const auto ms = NumberFrom<double>(part);
    if (!ms || !(*ms >= 0.1 && *ms <= 10'000))
      return InvalidArgument("got \"{}\" in \"{}\", wanted milliseconds from 0.1 to 10000: 10,12,15,40", part,
                             text);
    pace.push_back(std::chrono::round<Duration>(std::chrono::duration<double, std::milli>(*ms)));
  }
  if (pace.size() > 64) return InvalidArgument("got {} workers, wanted at most 64", pace.size());
  return pace;
}

nlohmann::json ToJson(const sim::TimelineOptions& options, const sim::TimelineReport& report) {
  const auto ms = [](Duration time) { return std::chrono::duration<double, std::milli>(time).count(); };
  nlohmann::json spans = nlohmann::json::array();
  for (const sim::TimelineSpan& span : report.spans) {
    spans.push_back({{"worker", span.worker},
                     {"iteration", span.iteration},
                     {"asked_ms", ms(span.asked)},
                     {"began_ms", ms(span.began)},
                     {"ended_ms", ms(span.ended)}});
  }
  return {
      {"sync", options.sync},      {"workers", options.steps.size()},     {"length_ms", ms(options.length)},
      {"delayed", report.delayed}, {"late_dropped", report.late_dropped}, {"spans", spans}};
}

class TimelineCommand final : public Command {
 public:
  explicit TimelineCommand(const Program& program) : environment_(program.environment) {}
  std::string name() const override { return "timeline"; }
  std::string summary() const override {
    return "show when each worker computes and waits under one synchronization model, in a simulation";
  }
  std::string lesson() const override {
    return fmt::format(
        "Examples:\n"
        "  leeway timeline --sync ssp:3\n"
        "  leeway timeline --sync drop:3 --pace 10,12,15,40\n\n"
        "Each worker repeats steps of its own pace against one server. Sync models: {}.\n",
        KnownSyncModels());
  }
  void Declare(FlagSet& flags) override {
    plugins_.Declare(flags);
    flags.Text("--sync", "SPEC", options_.sync, "synchronization model",
               With(plugins_.policies(), CheckSync));
    flags.Text("--apply", "SPEC", options_.apply, "apply mode [default: the model's own]");
    flags.Text("--pace", "MS,...", pace_, "milliseconds of a step, one worker for each number [10,12,15,40]",
               [](const std::string& text) { return ParsePace(text).status(); });
    flags.Number("--seed", "S", options_.seed, 0, ~0ULL,
                 "seeds the random draws of models and the variation of steps");
    flags.Switch("--json", json_, "one JSON object");
  }
  Result<int> Run() override {
    if (!options_.apply.empty()) {
      const Status fits = CheckApply(plugins_.policies(), options_.sync, options_.apply);
      if (!fits.ok()) return InvalidArgument("--apply with --sync {}: {}", options_.sync, fits.message());
    }
    if (!pace_.empty()) {
      LW_ASSIGN_OR_RETURN(options_.steps, ParsePace(pace_));
    }
    JobOptions job;
    job.workers = static_cast<std::uint32_t>(options_.steps.size());
    if (const Status fits = CheckInJob(plugins_.policies(), options_.sync, job); !fits.ok())
      return InvalidArgument("--sync with {} values of --pace: {}", job.workers, fits.message());
    options_.length = 10 * *std::ranges::max_element(options_.steps);
    options_.policies = plugins_.policies();
    const sim::TimelineReport report = sim::RunTimeline(options_);
    for (const std::string& problem : report.problems) PrintError("{}\n", problem);
    if (!report.problems.empty()) return kFailedExitCode;
    if (json_) {
      fmt::print("{}\n", ToJson(options_, report).dump());
    } else {
      const std::size_t columns = Screen::TableColumns(environment_.Get("COLUMNS").value_or(""));
      const std::string head = fmt::format("{}: {} DPRs, {} late pushes dropped; # and = compute, . waits",
                                           options_.sync, report.delayed, report.late_dropped);
      fmt::print("{}\n{}", Wrapped(head, 0, 2, columns), sim::TimelineText(options_, report, columns));
    }
    return 0;
  }

 private:
  const Environment& environment_;
  sim::TimelineOptions options_;
  PluginFlags plugins_;
  std::string pace_;  // empty: the defaults of TimelineOptions
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewTimelineCommand(const Program& program) {
  return std::make_unique<TimelineCommand>(program);
}

}  // namespace leeway::app
