#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/errors.h"
#include "bench/capture.h"
#include "calibrate/job_record.h"
#include "command/bench_script.h"
#include "command/commands.h"
#include "simulate/prediction_check.h"
#include "system/exec.h"
#include "terminal/error_output.h"

namespace leeway::app {
namespace {

constexpr double kErrorMax = 0.15;

class BenchPredictCommand final : public Command {
 public:
  explicit BenchPredictCommand(const Program& program)
      : program_(program), script_(program, "examples/fashion_mnist.py") {}

  std::string name() const override { return "bench predict"; }
  std::string summary() const override {
    return "measure how well the record of a bsp run predicts bsp, ssp:3 with a slow worker, and partial "
           "pull";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway bench predict\n"
           "  leeway bench predict --runs 1 --epochs 1 --json\n\n"
           "Each round trains the main job (examples/fashion_mnist.py, 4 workers, 2 servers) for real under "
           "each of the\n"
           "three, and simulates all of them from the record of its bsp run alone. Exits with 1 when the "
           "median of the\n"
           "predictions is more than 15 % off the median of what was measured. A machine that others use "
           "gives figures of\n"
           "those others: the last column says how many cores they had. docs/calibration.md.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Number("--runs", "N", runs_, 1, 100, "rounds");
    flags.Number("--epochs", "N", epochs_, 1, 1000, "of each training");
    script_.Declare(flags);
    flags.Text("--keep", "FOLDER", keep_, "where the records stay [default: nowhere]");
    flags.Switch("--json", json_, "one JSON object on one line");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const std::vector<std::string> script, script_.Command());
    LW_ASSIGN_OR_RETURN(const std::string folder,
                        script_.MakeFolder(program_.environment.Get("TMPDIR").value_or("/tmp")));
    std::vector<PredictedCase> cases = UsualCases();
    for (std::uint32_t round = 0; round < runs_; ++round) {
      LW_RETURN_IF_ERROR(RunRound(round, script, folder, cases));
    }
    fmt::print("{}", json_ ? ToJson(cases) + "\n" : ToText(cases));
    const bool good = std::ranges::all_of(
        cases, [](const PredictedCase& each) { return std::abs(each.error()) <= kErrorMax; });
    return good ? 0 : 1;
  }

 private:
  Status RunRound(std::uint32_t round, const std::vector<std::string>& script, const std::string& folder,
                  std::vector<PredictedCase>& cases) const {
    std::string first;  // the record that predicts all
    for (std::size_t i = 0; i < cases.size(); ++i) {
      PredictedCase& each = cases[i];
      const std::string name = fmt::format("round{}_{}.json", round, i);
      const std::string file = (keep_.empty() ? folder : keep_) + "/" + name;
      LW_RETURN_IF_ERROR(Train(each, script, file, folder + "/picture.png"));
      LW_ASSIGN_OR_RETURN(const JobRecord record, ReadJobRecord(file));
      if (first.empty()) first = file;
      LW_ASSIGN_OR_RETURN(const double predicted_s, Predict(first, each.sets));
      each.predicted_s.push_back(predicted_s);
      each.measured_s.push_back(record.seconds);
      each.others_cores.push_back(record.host.others_cores);
      PrintError("round {} of {}: {}: predicted {:.2f} s, measured {:.2f} s, {:+.1f} %\n", round + 1, runs_,
                 each.name, predicted_s, record.seconds, 100 * (predicted_s / record.seconds - 1));
    }
    return Status::Ok();
  }

  Status Train(const PredictedCase& how, const std::vector<std::string>& script, const std::string& file,
               const std::string& picture) const {
    std::vector<std::string> words = {"run", "-w", "4", "-s", "2", "--quiet"};
    words.insert(words.end(), {"--record", file});
    words.insert(words.end(), how.flags.begin(), how.flags.end());
    words.emplace_back("--");
    words.insert(words.end(), script.begin(), script.end());
    // Nothing but training: looking at the accuracy meanwhile would be the chief's alone.
    words.insert(words.end(),
                 {"--epochs", fmt::format("{}", epochs_), "--evaluate-every", "1000000", "--plot", picture});
    LW_ASSIGN_OR_RETURN(const bench::Captured ran, bench::Capture([&] { return Become(program_, words); }));
    if (ran.exit_code == 0) return Status::Ok();
    return Unavailable("leeway run ({}) ended with exit code {}", how.name, ran.exit_code);
  }

  const Program& program_;
  BenchScript script_;
  std::string keep_;
  std::uint32_t runs_ = 5, epochs_ = 1;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> NewBenchPredictCommand(const Program& program) {
  return std::make_unique<BenchPredictCommand>(program);
}

}  // namespace leeway::app
