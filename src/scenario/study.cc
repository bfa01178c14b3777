#include "scenario/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/errors.h"
#include "base/split.h"
#include "scenario/check_policies.h"
#include "scenario/keys.h"

namespace leeway::scenario {
namespace {

// The work under way, added up over all runs.
class Board {
 public:
  Board(std::size_t runs, const std::function<bool(const StudyProgress&)>& progress)
      : parts_(runs), progress_(progress) {}

  // False: stop.
  bool Show(std::size_t run, const RunProgress& part) {
    const std::lock_guard lock(mutex_);
    parts_[run] = part;
    return !stopped_ && Tell();
  }
  void Done(std::size_t run) {
    const std::lock_guard lock(mutex_);
    parts_[run].iterations = parts_[run].iterations_all =
        std::max<std::uint64_t>(parts_[run].iterations_all, 1);
    ++done_;
    (void)Tell();
  }
  void Fail(const Status& why) {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = why;
    stopped_ = true;
  }
  [[nodiscard]] Status failure() const { return failure_; }
  [[nodiscard]] bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  bool Tell() {
    if (!progress_) return true;
    StudyProgress all;
    all.runs = parts_.size();
    all.runs_done = done_;
    for (const RunProgress& part : parts_) {
      all.simulated_s += part.simulated_s;
      all.messages += part.messages;
      if (part.iterations_all > 0) {
        all.share += static_cast<double>(part.iterations) / static_cast<double>(part.iterations_all);
      }
    }
    all.share /= static_cast<double>(parts_.size());
    if (!progress_(all)) stopped_ = true;
    return !stopped_;
  }

  mutable std::mutex mutex_;
  std::vector<RunProgress> parts_;
  std::size_t done_ = 0;
  bool stopped_ = false;
  Status failure_;
  const std::function<bool(const StudyProgress&)>& progress_;
};

}  // namespace

Result<Sweep> ParseSweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return InvalidArgument("got \"{}\", wanted KEY=VALUE,VALUE,...: cluster.workers=8,16,32", text);
  }
  std::string values = text.substr(equals + 1);
  const char between = values.find(';') == std::string::npos ? ',' : ';';
  if (values.size() > 1 && values.back() == ';') values.pop_back();  // one value that holds a comma
  return Sweep{.key = text.substr(0, equals), .values = SplitAt(values, between)};
}

std::string CommaHint(const Sweep& sweep) {
  std::string joined;
  bool inside = false;
  for (const std::string& value : sweep.values) {
    // "3,0.5" of "pssp:3,0.5": no model begins with a digit.
    const bool goes_on = !joined.empty() && !value.empty() && value[0] >= '0' && value[0] <= '9' &&
                         joined.substr(joined.rfind(';') + 1).find(':') != std::string::npos;
    inside |= goes_on;
    joined += (joined.empty() ? "" : goes_on ? "," : ";") + value;
  }
  if (!inside) return "";
  if (joined.find(';') == std::string::npos)
    return fmt::format(" (one value that holds a comma is set, not swept: --set {}={})", sweep.key, joined);
  return fmt::format(" (values that hold a comma are parted by \";\": '{}={}')", sweep.key, joined);
}

namespace {

// Sets the keys of a sweep, which change together, to one of its values.
Status SetTogether(const Sweep& sweep, const std::string& value, Cell& cell) {
  const std::vector<std::string> keys = SplitAt(sweep.key, '+');
  const std::vector<std::string> texts =
      keys.size() > 1 ? SplitAt(value, '+') : std::vector<std::string>{value};
  if (texts.size() != keys.size()) {
    return InvalidArgument("sweep over {}: got \"{}\", wanted {} values parted by +", sweep.key, value,
                           keys.size());
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    LW_RETURN_IF_ERROR(SetKey(cell.scenario, keys[i], Plain(texts[i])));
    cell.scenario.said_at.erase(keys[i]);  // the cell's label says it
  }
  cell.settings.emplace_back(keys[0], texts[0]);
  cell.label += (cell.label.empty() ? "" : ", ") + (texts[0].empty() ? "none" : texts[0]);
  return Status::Ok();
}

// Checks only its name, before hours of runs: making one may read a whole data set.
Status CheckProblem(const Scenario& scenario, const Registry<problem::Problem>& problems) {
  const Status known = problems.CheckName(scenario.problem);
  if (known.ok()) return Status::Ok();
  return InvalidArgument("{}: {}", KeyWithPlace(scenario, "training.problem"), known.message());
}

}  // namespace

Result<Study> PlanStudy(const Scenario& base, const Registry<problem::Problem>& problems,
                        const std::vector<Sweep>& sweeps, std::uint64_t first_seed, std::uint32_t seeds) {
  Study study;
  study.base = base;
  for (std::uint32_t i = 0; i < seeds; ++i) study.seeds.push_back(first_seed + i);
  study.cells.push_back({.settings = {}, .label = "", .scenario = base, .records = {}});
  std::vector<std::string> swept;
  for (const Sweep& sweep : sweeps) {
    for (const std::string& key : SplitAt(sweep.key, '+')) {
      if (std::ranges::find(swept, key) != swept.end())
        return InvalidArgument("{}: got two sweeps over it, wanted one", key);
      swept.push_back(key);
    }
    std::vector<Cell> wider;
    for (const Cell& cell : study.cells) {
      for (const std::string& value : sweep.values) {
        Cell next = cell;
        LW_RETURN_IF_ERROR(SetTogether(sweep, value, next));
        wider.push_back(std::move(next));
      }
    }
    study.cells = std::move(wider);
  }
  for (Cell& cell : study.cells) {
    if (cell.label.empty()) cell.label = base.name;
    for (const Status& checked :
         {CheckWhole(cell.scenario), CheckPolicies(cell.scenario), CheckProblem(cell.scenario, problems)}) {
      if (!checked.ok()) return cell.settings.empty() ? checked : checked.WithContext(cell.label);
    }
    cell.records.resize(seeds);
    for (std::uint32_t i = 0; i < seeds; ++i) cell.records[i].seed = study.seeds[i];
  }
  return study;
}

Status RunStudy(Study& study, const Registry<problem::Problem>& problems, std::uint32_t threads,
                const std::function<bool(const StudyProgress&)>& progress) {
  const std::size_t seeds = study.seeds.size();
  const std::size_t runs = study.cells.size() * seeds;
  Board board(runs, progress);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t run = next++; run < runs && !board.stopped(); run = next++) {
      Cell& cell = study.cells[run / seeds];
      Result<RunRecord> record =
          RunScenario(cell.scenario, problems, study.seeds[run % seeds],
                      [&board, run](const RunProgress& part) { return board.Show(run, part); });
      if (!record.ok()) return board.Fail(record.status());
      cell.records[run % seeds] = std::move(*record);
      board.Done(run);
    }
  };
  std::vector<std::thread> others;
  for (std::uint32_t i = 1; i < std::min<std::size_t>(threads, runs); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (!board.stopped()) return Status::Ok();
  for (std::size_t run = 0; run < runs; ++run) {
    RunRecord& record = study.cells[run / seeds].records[run % seeds];
    if (record.iterations == 0 && record.errors.empty()) record.errors = {"stopped before it began"};
  }
  LW_RETURN_IF_ERROR(board.failure());
  return Cancelled("stopped before all {} runs were done", runs);
}

std::vector<const RunRecord*> RunsThatEndedWell(const Cell& cell) {
  std::vector<const RunRecord*> records;
  for (const RunRecord& record : cell.records) {
    if (record.errors.empty()) records.push_back(&record);
  }
  return records;
}

std::vector<std::string> ErrorsOf(const Study& study) {
  std::vector<std::string> errors;
  for (const Cell& cell : study.cells) {
    for (const RunRecord& record : cell.records) {
      for (const std::string& error : record.errors) {
        errors.push_back(fmt::format("{}, seed {}: {}", cell.label, record.seed, error));
      }
    }
  }
  return errors;
}

}  // namespace leeway::scenario
