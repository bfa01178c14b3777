#include <algorithm>
#include <memory>
#include <thread>

#include "command/commands.h"
#include "papers/papers.h"

namespace leeway::app {
namespace {

class PapersCommand final : public Command {
 public:
  std::string name() const override { return "papers"; }
  std::string summary() const override {
    return "simulate the tables and figures of papers, and show both side by side";
  }
  std::string lesson() const override {
    return "Examples:\n"
           "  leeway papers --list\n"
           "  leeway papers fluentps table4\n"
           "  leeway papers psp_sgd table1 --seeds 1\n"
           "  leeway papers --quick --out build/papers\n"
           "  leeway papers --out build/papers --docs docs/papers\n\n"
           "Runs scenarios/papers/PAPER/FIGURE.toml, or all whose names begin with FIGURE_. The same files "
           "and "
           "seeds give the same bytes. docs/papers holds the results, and says where they differ from the "
           "paper "
           "and why. MNIST comes from tools/get_mnist.sh data/mnist; without it its rows are left out.\n";
  }

  void Declare(FlagSet& flags) override {
    flags.Words("[PAPER [FIGURE]]", words_, 0, 2, "the paper, and a figure of it [default: all]");
    flags.Switch("--list", list_, "list the figures, and run nothing");
    flags.Switch("--quick", options_.quick,
                 "few iterations and one seed: shows that everything runs, not the results");
    flags.Number("--seed", "S", options_.seed, 1, 1U << 30, "the first seed");
    flags.Number("--seeds", "N", options_.seeds, 0, 10'000, "how many; 0: as each file says");
    flags.Number("--threads", "N", options_.threads, 1, 256, "runs at a time");
    flags.Text("--scenarios", "FOLDER", options_.scenarios, "where the files are");
    flags.Text("--out", "FOLDER", options_.out, "write report.html with all figures to this folder");
    flags.Text("--docs", "FOLDER", options_.docs, "write Markdown and pictures to this folder");
  }

  Result<int> Run() override {
    if (!words_.empty()) options_.paper = words_[0];
    if (words_.size() > 1) options_.figure = words_[1];
    return list_ ? ListPapers(options_) : RunPapers(options_);
  }

 private:
  PapersOptions options_{.paper = {},
                         .figure = {},
                         .threads = std::max(1U, std::thread::hardware_concurrency()),
                         .out = {},
                         .docs = {}};
  std::vector<std::string> words_;
  bool list_ = false;
};

}  // namespace

std::unique_ptr<Command> NewPapersCommand() { return std::make_unique<PapersCommand>(); }

}  // namespace leeway::app
