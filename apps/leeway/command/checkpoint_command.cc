// leeway checkpoint ls, verify, diff and export.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "command/commands.h"
#include "inspect/checkpoint_folder.h"
#include "inspect/diff.h"
#include "inspect/safetensors.h"
#include "inspect/verify.h"
#include "terminal/error_output.h"
#include "terminal/quantity.h"
#include "terminal/table_text.h"
#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

constexpr int kBadExitCode = 1;

class CheckpointLsCommand final : public Command {
 public:
  std::string name() const override { return "checkpoint ls"; }
  std::string summary() const override { return "list the checkpoints in a folder"; }
  std::string lesson() const override {
    return "Examples:\n  leeway checkpoint ls ckpt\n\n"
           "Reads the manifests and no more; verify reads everything.\n";
  }
  void Declare(FlagSet& flags) override {
    flags.Words("FOLDER", words_, 1, 1, "where a job keeps its checkpoints, or one of them");
    flags.Switch("--json", json_, "one JSON list");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const std::vector<CheckpointPath> found, FindCheckpoints(words_[0]));
    TableText table({"id", "state", "job", "iteration", "tables", "blocks", "files", "ranks", "size"});
    nlohmann::json list = nlohmann::json::array();
    for (const CheckpointPath& at : found) Row(at, table, list);
    if (json_) {
      fmt::print("{}\n", list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
      fmt::print("{}", table.Print());
    }
    return 0;
  }

 private:
  static void Row(const CheckpointPath& at, TableText& table, nlohmann::json& list) {
    nlohmann::json row{{"id", at.id}, {"path", at.path}};
    const Result<Manifest> manifest = at.complete ? OpenManifest(at.path) : NotFound("no manifest");
    if (!manifest.ok()) {
      const char* state = at.complete ? "bad manifest" : "incomplete";
      row["state"] = state;
      table.Row({fmt::format("{}", at.id), state});
    } else {
      std::uint64_t blocks = 0, bytes = 0;
      for (const ManifestTable& t : manifest->tables) blocks += t.blocks.size();
      for (const ManifestFile& f : manifest->files) bytes += f.bytes;
      for (const ManifestRank& r : manifest->ranks) bytes += r.bytes;
      const char* state = manifest->consistent ? "consistent" : "fuzzy";
      row.update({{"state", state},
                  {"job", manifest->job.job},
                  {"iteration", manifest->iteration.value()},
                  {"tables", manifest->tables.size()},
                  {"blocks", blocks},
                  {"files", manifest->files.size()},
                  {"ranks", manifest->ranks.size()},
                  {"bytes", bytes}});
      table.Row({fmt::format("{}", manifest->checkpoint), state, CutMiddle(manifest->job.job, 14),
                 fmt::format("{}", manifest->iteration.value()), fmt::format("{}", manifest->tables.size()),
                 fmt::format("{}", blocks), fmt::format("{}", manifest->files.size()),
                 fmt::format("{}", manifest->ranks.size()), ShortBytes(static_cast<double>(bytes))});
    }
    list.push_back(std::move(row));
  }

  std::vector<std::string> words_;
  bool json_ = false;
};

class CheckpointVerifyCommand final : public Command {
 public:
  std::string name() const override { return "checkpoint verify"; }
  std::string summary() const override { return "check every byte of a checkpoint, or of all in a folder"; }
  std::string lesson() const override {
    return fmt::format(
        "Examples:\n  leeway checkpoint verify ckpt\n"
        "  leeway checkpoint verify ckpt/checkpoint-00000012\n\n"
        "Exit code 0 if all are good, {} if one is bad; problems name file, offset and block. A folder "
        "without a manifest.json is no checkpoint: it is named in a FOLDER, and bad if asked for by "
        "itself.\n",
        kBadExitCode);
  }
  void Declare(FlagSet& flags) override {
    flags.Words("FOLDER|CHECKPOINT", words_, 1, 1, "a folder of checkpoints, or one of them");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const std::vector<CheckpointPath> found, FindCheckpoints(words_[0]));
    bool bad = false;
    for (const CheckpointPath& at : found) {
      if (!at.complete) {
        fmt::print("{}: incomplete: no manifest.json\n", at.path);
        bad = bad || at.path == words_[0];
        continue;
      }
      const Verified verified = VerifyCheckpoint(at.path);
      for (const std::string& problem : verified.problems) PrintError("{}\n", problem);
      bad = bad || !verified.problems.empty();
      fmt::print("{}: {}: {} files, {} blocks, {} ranks, {}\n", at.path,
                 verified.problems.empty() ? "good" : "BAD", verified.files, verified.blocks, verified.ranks,
                 ShortBytes(static_cast<double>(verified.bytes)));
    }
    return bad ? kBadExitCode : 0;
  }

 private:
  std::vector<std::string> words_;
};

class CheckpointDiffCommand final : public Command {
 public:
  std::string name() const override { return "checkpoint diff"; }
  std::string summary() const override { return "measure how far apart the values of two checkpoints are"; }
  std::string lesson() const override {
    return "Examples:\n  leeway checkpoint diff ckpt/checkpoint-00000011 "
           "ckpt/checkpoint-00000012\n"
           "  leeway checkpoint diff before/ after/ --json\n\n"
           "Of a folder of checkpoints its newest complete one is taken. |a-b| is the Euclidean norm over "
           "the table; steps and v_train are those of a and b. Of the states of ranks it says whether they "
           "are the same.\n"
           "Exit code 1 if one is damaged.\n";
  }
  void Declare(FlagSet& flags) override {
    flags.Words("A B", words_, 2, 2, "two checkpoints");
    flags.Switch("--json", json_, "one JSON object");
  }

  Result<int> Run() override {
    LW_ASSIGN_OR_RETURN(const std::string a, OneCheckpoint(words_[0]));
    LW_ASSIGN_OR_RETURN(const std::string b, OneCheckpoint(words_[1]));
    const Result<std::vector<TableDiff>> diffs = DiffCheckpoints(a, b);
    const Result<std::vector<RankDiff>> ranks = DiffRanks(a, b);
    for (const Status& status : {diffs.status(), ranks.status()}) {
      if (status.ok()) continue;
      // The words were right: what they name is damaged.
      PrintError("{}\n", status.message());
      return kBadExitCode;
    }
    if (json_) {
      PrintJson(a, b, *diffs, *ranks);
    } else {
      fmt::print("a: {}\nb: {}\n\n{}{}", a, b, Text(*diffs), Text(*ranks));
    }
    return 0;
  }

 private:
  static std::string VTrain(const TableSide& side) {
    if (side.v_train_min == side.v_train_max) return fmt::format("{}", side.v_train_min);
    return fmt::format("{}-{}", side.v_train_min, side.v_train_max);
  }

  static std::string Text(const std::vector<TableDiff>& diffs) {
    // All in one table would not fit into a terminal.
    constexpr std::size_t kNameColumns = 24;
    TableText values({"table", "|a-b|", "max |a-b|", "|a|", "|b|"});
    TableText progress({"table", "elements", "steps a", "steps b", "v_train a", "v_train b"});
    for (const TableDiff& d : diffs) {
      const bool both = d.a && d.b;
      const std::string name = CutMiddle(d.name, kNameColumns);
      const std::string differs = !both ? "" : d.same_shape ? fmt::format("{:.6g}", d.norm) : "other shape";
      const auto show = [](const std::optional<TableSide>& side, auto what) {
        return side ? what(*side) : std::string("-");
      };
      const auto norm = [](const TableSide& s) { return fmt::format("{:.6g}", s.norm); };
      const auto steps = [](const TableSide& s) { return fmt::format("{}", s.steps); };
      values.Row({name, differs, both && d.same_shape ? fmt::format("{:.6g}", d.max_abs) : "",
                  show(d.a, norm), show(d.b, norm)});
      progress.Row({name, fmt::format("{}", d.elements), show(d.a, steps), show(d.b, steps),
                    show(d.a, VTrain), show(d.b, VTrain)});
    }
    return values.Print() + "\n" + progress.Print();
  }

  static std::string Text(const std::vector<RankDiff>& ranks) {
    if (ranks.empty()) return "";
    TableText table({"rank", "state", "bytes a", "bytes b", "iteration a", "iteration b"});
    const auto iteration = [](const std::optional<std::int64_t>& i) {
      return i ? fmt::format("{}", *i) : "-";
    };
    for (const RankDiff& d : ranks) {
      const bool both = d.iteration_a && d.iteration_b;
      table.Row({fmt::format("{}", d.rank.value()),
                 !both    ? ""
                 : d.same ? "the same"
                          : "differs",
                 fmt::format("{}", d.bytes_a), fmt::format("{}", d.bytes_b), iteration(d.iteration_a),
                 iteration(d.iteration_b)});
    }
    return "\n" + table.Print();
  }

  static nlohmann::json ToJson(const RankDiff& d) {
    nlohmann::json row{
        {"rank", d.rank.value()}, {"same", d.same}, {"bytes_a", d.bytes_a}, {"bytes_b", d.bytes_b}};
    if (d.iteration_a) row["iteration_a"] = *d.iteration_a;
    if (d.iteration_b) row["iteration_b"] = *d.iteration_b;
    return row;
  }

  static nlohmann::json ToJson(const std::optional<TableSide>& side) {
    if (!side) return nullptr;
    return {{"steps", side->steps},
            {"v_train_min", side->v_train_min},
            {"v_train_max", side->v_train_max},
            {"norm", side->norm}};
  }

  static void PrintJson(const std::string& a, const std::string& b, const std::vector<TableDiff>& diffs,
                        const std::vector<RankDiff>& rank_diffs) {
    nlohmann::json ranks = nlohmann::json::array();
    for (const RankDiff& d : rank_diffs) ranks.push_back(ToJson(d));
    nlohmann::json tables = nlohmann::json::array();
    for (const TableDiff& d : diffs) {
      nlohmann::json row{{"table", d.name}, {"elements", d.elements}, {"a", ToJson(d.a)}, {"b", ToJson(d.b)}};
      if (d.a && d.b) row["same_shape"] = d.same_shape;
      if (d.a && d.b && d.same_shape) row.update({{"norm", d.norm}, {"max_abs", d.max_abs}});
      tables.push_back(std::move(row));
    }
    const nlohmann::json out{{"a", a}, {"b", b}, {"tables", tables}, {"ranks", ranks}};
    fmt::print("{}\n", out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  std::vector<std::string> words_;
  bool json_ = false;
};

class CheckpointExportCommand final : public Command {
 public:
  std::string name() const override { return "checkpoint export"; }
  std::string summary() const override { return "write the values of a checkpoint as a .safetensors file"; }
  std::string lesson() const override {
    return "Examples:\n  leeway checkpoint export ckpt model.safetensors\n\n"
           "Of a folder of checkpoints its newest complete one is taken. The file has the tables, which are "
           "the trained parameters. `python3 -m leeway.checkpoint export` adds buffers and the second names "
           "of tied parameters, and imports such files.\n"
           "Exit code 1 if the checkpoint is damaged.\n";
  }
  void Declare(FlagSet& flags) override {
    flags.Words("CHECKPOINT OUT.safetensors", words_, 2, 2, "a checkpoint, and the file to write");
  }

  Result<int> Run() override {
    const std::string& out = words_[1];
    if (!out.ends_with(".safetensors")) {
      return InvalidArgument("{}: wanted a name that ends with .safetensors, the format that is written",
                             out);
    }
    LW_ASSIGN_OR_RETURN(const std::string checkpoint, OneCheckpoint(words_[0]));
    const Result<Exported> exported = ExportSafetensors(checkpoint, out);
    if (!exported.ok()) {
      // The words were right: what they name is damaged, or cannot be written.
      PrintError("{}\n", exported.status().message());
      return kBadExitCode;
    }
    fmt::print("{}: {} tables of {}, {}\n", out, exported->tables, checkpoint,
               ShortBytes(static_cast<double>(exported->bytes)));
    return 0;
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> NewCheckpointLsCommand() { return std::make_unique<CheckpointLsCommand>(); }
std::unique_ptr<Command> NewCheckpointVerifyCommand() { return std::make_unique<CheckpointVerifyCommand>(); }
std::unique_ptr<Command> NewCheckpointDiffCommand() { return std::make_unique<CheckpointDiffCommand>(); }
std::unique_ptr<Command> NewCheckpointExportCommand() { return std::make_unique<CheckpointExportCommand>(); }

}  // namespace leeway::app
