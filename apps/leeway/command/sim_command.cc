#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <thread>

#include "base/errors.h"
#include "cli/command_line.h"
#include "command/commands.h"
#include "role/plugin_flags.h"
#include "scenario/figures.h"
#include "scenario/keys.h"
#include "simulate/simulate.h"
#include "terminal/screen.h"
#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

class SimCommand final : public Command {
 public:
  explicit SimCommand(const Program& program) : environment_(program.environment) {}
  std::string name() const override { return "sim"; }
  std::string summary() const override {
    return "simulate a training job from a scenario file, or from the record of a real run";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway sim scenarios/uneven.toml\n"
           "  leeway sim scenarios/uneven.toml --set cluster.workers=64 --report out.html\n"
           "  leeway sim scenarios/uneven.toml --sweep policies.sync=bsp,ssp:3,asp --seeds 5\n"
           "  leeway sim scenarios/uneven.toml --sweep 'policies.sync=ssp:3;pssp:3,0.3'\n"
           "  leeway sim scenarios/uneven.toml --set record.timeline_s=5 --trace out.json\n"
           "  leeway sim scenarios/uneven.toml --plugin mine.so --sweep policies.sync=mine:3\n"
           "  leeway sim --from-run run.json --sweep policies.sync=bsp,ssp:3,asp\n"
           "  leeway sim --keys\n\n"
           "A scenario file describes the cluster, the model and the policies; docs/simulator.md explains "
           "it. The same file\n"
           "and seeds give the same report. --sweep may be given several times; a \";\" separates values "
           "that hold commas.\n"
           "--trace opens in ui.perfetto.dev. --from-run predicts a real run from its record (leeway run "
           "--record), beside\n"
           "what was measured, and with --set and --sweep other runs on the same machines: "
           "docs/calibration.md.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Words("SCENARIO", words_, 0, 1, "a scenario file");
    flags.Each(
        "--set", "KEY=VALUE", [this](const std::string& text) { return Keep(text, simulate_.sets); },
        "set a key, in place of the file's value");
    flags.Each(
        "--sweep", "KEY=A,B,...", [this](const std::string& text) { return Keep(text, simulate_.sweeps); },
        "runs for each of the values, instead of the file's own sweeps");
    flags.Text("--from-run", "FILE", simulate_.from_run,
               "instead of a scenario file: the record of a real run, which leeway run --record wrote");
    plugins_.Declare(flags);
    flags.Switch("--quick", simulate_.quick,
                 "use the short form that the file defines; a file without quick keys runs in full, and one "
                 "line says so");
    flags.Switch("--dry-run", simulate_.dry_run,
                 "check the scenario, print it with every key, and run nothing");
    flags.Text("--report", "FILE", simulate_.report, "an HTML page of a scenario's results");
    flags.Text("--trace", "FILE", simulate_.trace, "write a trace of all workers for Perfetto");
    flags.Switch("--keys", keys_, "list all keys of a scenario");
    flags.Number("--seed", "S", seed_, 0, ~0ULL, "the first seed");
    flags.Number("--seeds", "N", seeds_, 0, 10'000, "how many seeds; 0: as the scenario says");
    flags.Number("--threads", "N", threads_, 1, 256, "runs at a time");
    flags.OptionalText("--json", "FILE", json_, simulate_.json, "one JSON object, on stdout or in a file");
  }

  Result<int> Run() override {
    const std::size_t columns = Screen::TableColumns(environment_.Get("COLUMNS").value_or(""));
    if (keys_) return ListKeys(columns);
    if (!words_.empty() && !simulate_.from_run.empty())
      return InvalidArgument("got the scenario file {} and --from-run, wanted one of them", words_[0]);
    if (words_.empty() && simulate_.from_run.empty()) return InvalidArgument("{}", NothingGiven());
    if (simulate_.quick && words_.empty())
      return InvalidArgument("got --quick and --from-run, wanted one of them: a record has no short form");
    if (simulate_.dry_run && (json_ || !simulate_.report.empty() || !simulate_.trace.empty()))
      return InvalidArgument("got --dry-run and an output, wanted one of them: a dry run has no results");
    if (!words_.empty()) simulate_.file = words_[0];
    simulate_.policies = plugins_.policies();
    simulate_.seed = seed_;
    simulate_.seeds = seeds_;
    simulate_.threads = threads_;
    if (json_ && simulate_.json.empty()) simulate_.json = "-";
    simulate_.table_columns = columns;
    return Simulate(simulate_);
  }

 private:
  static std::string NothingGiven() {
    return "got neither a scenario file nor --from-run, wanted one of them:\n"
           "  leeway sim scenarios/uneven.toml    what a job would do on a cluster\n"
           "  leeway sim --from-run run.json      what a recorded run would do otherwise\n"
           "  leeway sim --keys                   everything that a scenario can say";
  }

  static Status Keep(const std::string& text, std::vector<std::string>& list) {
    list.push_back(text);
    return Status::Ok();
  }

  static Result<int> ListKeys(std::size_t columns) {
    std::vector<scenario::KeyText> keys = scenario::KeysOf({});
    std::ranges::move(StudyKeys(), std::back_inserter(keys));
    for (const scenario::KeyText& key : keys) {
      PrintKey(key.key, fmt::format("{} [{}]", key.help, key.value), columns);
      PrintKey("", key.wanted, columns);
    }
    fmt::print("\nFigures, for study.figures and study.plots:\n");
    for (const scenario::Figure& figure : scenario::AllFigures())
      PrintKey(figure.name, figure.meaning, columns);
    return 0;
  }
  // The text begins beside the name, and goes on below its own beginning.
  static void PrintKey(std::string_view name, std::string_view text, std::size_t columns) {
    constexpr std::size_t kNameColumns = 26;
    const std::size_t at = std::max(name.size(), kNameColumns) + 1;
    fmt::print("{:<{}} {}\n", name, kNameColumns, Wrapped(text, at, kNameColumns + 1, columns));
  }

  const Environment& environment_;
  std::uint64_t seed_ = 1;
  std::uint32_t seeds_ = 0;
  std::uint32_t threads_ = std::max(1U, std::thread::hardware_concurrency());
  bool keys_ = false;
  std::vector<std::string> words_;
  SimulateOptions simulate_;
  PluginFlags plugins_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewSimCommand(const Program& program) {
  return std::make_unique<SimCommand>(program);
}

}  // namespace leeway::app
