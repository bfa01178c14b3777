#include "bench/cluster/row_turn.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

#include "assembly/assembly.h"
#include "base/errors.h"
#include "bench/cpu.h"
#include "bench/turns.h"
#include "process/console_log.h"
#include "process/scheduler_process.h"
#include "process/secret_file.h"
#include "process/server_process.h"

namespace leeway::bench {
namespace {

// It dies with the bench.
constexpr std::chrono::hours kRoleMax{240};
constexpr std::chrono::milliseconds kRowLook{50};
// Without a word from any worker the run is stuck.
constexpr std::chrono::minutes kRowSilenceMax{3};

using RowClock = std::chrono::steady_clock;

struct CardCounts {
  double received = 0, sent = 0;  // bytes
};

// Of the card of a machine, seen by a process on it.
CardCounts CardCountsOf(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/net/dev", process));
  const std::string wanted = std::string(EmulatedNetwork::kCard) + ":";
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || name != wanted) continue;
    std::vector<double> numbers;
    for (double n = 0; words >> n;) numbers.push_back(n);
    constexpr std::size_t kReceived = 0, kSent = 8;
    if (numbers.size() > kSent) return {numbers[kReceived], numbers[kSent]};
  }
  return {};
}

// The part of a run in which all workers are in their counted steps.
class CountedWindow {
 public:
  explicit CountedWindow(const std::vector<const Children*>& groups) : groups_(groups) {}

  void Open() {
    if (opened_) return;
    opened_ = true;
    from_ = Look();
  }
  void Close() {
    if (!opened_ || closed_) return;
    closed_ = true;
    to_ = Look();
  }
  void Report(RowTurn& turn) const {
    if (!closed_) {
      turn.idle = turn.gbit_s = NAN;
      return;
    }
    const double seconds = std::chrono::duration<double>(to_.at - from_.at).count();
    turn.idle = 1 - OthersShare(from_.machine, to_.machine, 0);
    turn.gbit_s = 0;
    for (std::size_t i = 0; i < from_.cards.size(); ++i) {
      const double bytes =
          std::max(to_.cards[i].received - from_.cards[i].received, to_.cards[i].sent - from_.cards[i].sent);
      turn.gbit_s = std::max(turn.gbit_s, bytes * 8e-9 / seconds);
    }
  }

 private:
  struct Seen {
    RowClock::time_point at;
    MachineTime machine;
    std::vector<CardCounts> cards;
  };
  [[nodiscard]] Seen Look() const {
    Seen seen{.at = RowClock::now(), .machine = MachineTimeNow(), .cards = {}};
    for (const Children* group : groups_) {
      for (const auto& child : *group) seen.cards.push_back(CardCountsOf(child->pid()));
    }
    return seen;
  }

  const std::vector<const Children*> groups_;
  bool opened_ = false, closed_ = false;
  Seen from_, to_;
};

class RowProcesses {
 public:
  explicit RowProcesses(const RowTurnPlan& plan) : plan_(plan) {}

  Status StartJob() {
    SchedulerOptions scheduler;
    scheduler.job = plan_.row.job;
    scheduler.link.transport = "tcp";
    LW_ASSIGN_OR_RETURN(scheduler.link.secret, NewSecret());
    secret_ = scheduler.link.secret;
    scheduler.bind_any = true;
    scheduler.listen = plan_.network != nullptr ? EmulatedNetwork::BridgeAddress() + ":0" : "127.0.0.1:0";
    scheduler_.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
      return RunRole(parent, plan_.network != nullptr ? plan_.network->EnterBridge() : Status::Ok(),
                     [&] { return Schedule(parent, scheduler); });
    }));
    LW_ASSIGN_OR_RETURN(address_, scheduler_.back()->Hear());
    for (std::uint32_t i = 0; i < scheduler.job.servers; ++i) {
      servers_.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
        return RunRole(parent, Enter(plan_.servers_from + i), [&] { return Serve(i, scheduler); });
      }));
    }
    return Status::Ok();
  }

  void StartWorkers() {
    for (std::uint32_t i = 0; i < plan_.row.job.workers; ++i) {
      workers_.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
        if (const Status entered = Enter(i); !entered.ok()) return Fail(parent, entered);
        const EmulatedWorkerOptions options{.scheduler = address_,
                                            .secret = secret_,
                                            .trace = plan_.trace,
                                            .rank = i,
                                            .pass = plan_.row.pass,
                                            .tables = plan_.tables,
                                            .shares = plan_.shares,
                                            .step_s = plan_.step_s,
                                            .warm_up = plan_.warm_up,
                                            .steps = plan_.steps};
        return RunEmulatedWorker(parent, options);
      }));
    }
  }

  // Hears all workers until each has told its totals.
  Status HearWorkers(const std::function<bool()>& stop, RowTurn& turn) {
    // One process on each card; a server's is on its worker's unless they are apart.
    CountedWindow window(plan_.network == nullptr  ? std::vector<const Children*>{}
                         : plan_.servers_from == 0 ? std::vector<const Children*>{&workers_}
                                                   : std::vector<const Children*>{&workers_, &servers_});
    RowClock::time_point heard = RowClock::now();
    done_.assign(workers_.size(), false);
    while (std::ranges::count(done_, false) > 0) {
      if (stop && stop()) return Cancelled("the bench was asked to stop");
      LW_RETURN_IF_ERROR(CheckRoles());
      if (RowClock::now() - heard > kRowSilenceMax)
        return DeadlineExceeded("no worker of the bench said anything for {} minutes",
                                kRowSilenceMax.count());
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (done_[i]) continue;
        const Result<std::string> line = workers_[i]->Hear(kRowLook);
        if (!line.ok() && line.status().code() == StatusCode::kDeadlineExceeded) continue;
        LW_RETURN_IF_ERROR(line.status());
        heard = RowClock::now();
        LW_RETURN_IF_ERROR(TakeLine(i, *line, window, turn));
      }
    }
    window.Report(turn);
    if (communication_s_ > 0) turn.overlap = 1 - waited_s_ / communication_s_;
    return Status::Ok();
  }

  // All workers end by themselves. REQUIRES: HearWorkers succeeded.
  Status EndWorkers() {
    for (const auto& worker : workers_) LW_RETURN_IF_ERROR(worker->Tell("end"));
    for (const auto& worker : workers_) LW_RETURN_IF_ERROR(worker->Hear().status());
    return Status::Ok();
  }

 private:
  Status TakeLine(std::size_t worker, const std::string& line, CountedWindow& window, RowTurn& turn) {
    TrainStep step;
    if (ReadLine(line, step)) {
      if (step.step >= plan_.warm_up) turn.counted.push_back(step);
      if (step.step + 1 == plan_.warm_up && ++warm_ == workers_.size()) window.Open();
      return Status::Ok();
    }
    TrainTotals totals;
    if (!ReadLine(line, totals)) return Internal("a worker of the bench said \"{}\"", line);
    window.Close();
    done_[worker] = true;
    const auto workers = static_cast<double>(workers_.size());
    turn.exchanges += totals.exchanges / workers;
    communication_s_ += totals.communication_s;
    waited_s_ += totals.waited_s;
    turn.bytes_a_step += (totals.bytes_sent + totals.bytes_received) / plan_.steps / workers;
    return Status::Ok();
  }

  Status Enter(std::uint32_t machine) const {
    return plan_.network != nullptr ? plan_.network->EnterMachine(machine) : Status::Ok();
  }

  static int RunRole(const Child::Parent& parent, const Status& entered, const std::function<Status()>& run) {
    const Status ended = entered.ok() ? run() : entered;
    return ended.ok() ? 0 : Fail(parent, ended);
  }

  static Status Schedule(const Child::Parent& parent, const SchedulerOptions& options) {
    ConsoleLog log("bench scheduler", LogLevel::kError);
    const Policies policies = Policies::Builtin();
    LW_ASSIGN_OR_RETURN(const auto scheduler, SchedulerProcess::Start(options, policies, log));
    parent.Tell(scheduler->address());
    return scheduler->Wait(kRoleMax);
  }

  [[nodiscard]] Status Serve(std::uint32_t server, const SchedulerOptions& scheduler) const {
    ConsoleLog log(fmt::format("bench server {}", server), LogLevel::kError);
    const Policies policies = Policies::Builtin();
    ServerOptions options;
    options.link = scheduler.link;
    options.scheduler = address_;
    options.server = server;
    options.bind_any = true;
    options.cores = "none";
    options.trace = plan_.trace;
    options.listen = plan_.network != nullptr
                         ? EmulatedNetwork::MachineAddress(plan_.servers_from + server) + ":0"
                         : "127.0.0.1:0";
    LW_ASSIGN_OR_RETURN(const auto process,
                        ServerProcess::Start(options, scheduler.job.shards, policies, log));
    return process->Wait(kRoleMax);
  }

  // A scheduler or server says nothing unless it fails.
  [[nodiscard]] Status CheckRoles() const {
    for (const Children* group : {&scheduler_, &servers_}) {
      for (const auto& child : *group) {
        const Result<std::string> line = child->Hear(std::chrono::milliseconds(1));
        if (!line.ok() && line.status().code() != StatusCode::kDeadlineExceeded) return line.status();
      }
    }
    return Status::Ok();
  }

  const RowTurnPlan& plan_;
  std::string address_, secret_;
  std::vector<bool> done_;                     // by worker: it has told its totals
  std::size_t warm_ = 0;                       // workers whose counted steps have begun
  double communication_s_ = 0, waited_s_ = 0;  // of all workers
  Children scheduler_, servers_, workers_;
};

void SumUp(const RowTurnPlan& plan, RowTurn& turn) {
  const std::uint32_t workers = plan.row.job.workers;
  std::vector<double> seconds(workers), waited(workers);
  for (const TrainStep& step : turn.counted) {
    seconds[step.rank] += step.seconds;
    waited[step.rank] += step.waited_s;
    turn.first_values_s += step.first_values_s / static_cast<double>(turn.counted.size());
  }
  for (std::uint32_t rank = 0; rank < workers; ++rank) {
    turn.steps_s += plan.steps / seconds[rank];
    turn.computing += plan.steps * plan.step_s / seconds[rank] / workers;
    turn.waiting += waited[rank] / seconds[rank] / workers;
  }
}

}  // namespace

Result<RowTurn> RunRowTurn(const RowTurnPlan& plan, const std::function<bool()>& stop) {
  const RowClock::time_point began = RowClock::now();
  RowTurnPlan own = plan;
  if (plan.row.pass == TrainPass::kAlone) own.network = nullptr;
  RowProcesses processes(own);
  RowTurn turn;
  turn.exchanges = 0;
  if (plan.row.pass != TrainPass::kAlone) LW_RETURN_IF_ERROR(processes.StartJob());
  processes.StartWorkers();
  LW_RETURN_IF_ERROR(processes.HearWorkers(stop, turn));
  // A process that is killed loses the end of its trace.
  if (!plan.trace.folder.empty()) LW_RETURN_IF_ERROR(processes.EndWorkers());
  SumUp(plan, turn);
  turn.seconds = std::chrono::duration<double>(RowClock::now() - began).count();
  return turn;
}

}  // namespace leeway::bench
