#include "bench/cluster/emulated_worker.h"

#include <sys/prctl.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "bench/cluster/emulated_device.h"
#include "leeway/trace.h"
#include "leeway/worker.h"

namespace leeway::bench {
namespace {

// Every gradient of every step. It stays what it is, so that steps may lend the same memory again.
constexpr float kGradientValue = 1e-3F;
constexpr unsigned long kTimerSlackNs = 1'000;

struct EmulatedTable {
  TableId id;
  std::span<const float> gradient;
  std::shared_ptr<const void> pin;
};

// The job's side of an emulated worker.
class EmulatedTraining {
 public:
  static Result<std::unique_ptr<EmulatedTraining>> Join(const EmulatedWorkerOptions& options) {
    auto training = std::make_unique<EmulatedTraining>(options);
    LW_RETURN_IF_ERROR(training->Begin());
    return training;
  }

  explicit EmulatedTraining(const EmulatedWorkerOptions& options) : options_(options) {}

  // A layer waits for its own values, and its gradient leaves when it is ready.
  Status WaitFreeStep(EmulatedDevice<MonotonicClock>& device) {
    const problem::ComputeShares& shares = options_.shares;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      LW_RETURN_IF_ERROR(Use(i, device));
      Compute(device, shares.forward[i] * options_.step_s, "forward", i);
    }
    for (std::size_t i = tables_.size(); i-- > 0;) {
      Compute(device, shares.backward[i] * options_.step_s, "backward", i);
      if (i == 0) backward_ended_ns_ = MonotonicClock::NowNs();
      LW_RETURN_IF_ERROR(worker_->Push(tables_[i].id, tables_[i].gradient, HowToPush(i)).status());
    }
    return worker_->Clock();
  }

  // All values are here before the forward pass begins, and all gradients leave after the backward pass.
  Status TraditionalStep(EmulatedDevice<MonotonicClock>& device) {
    for (std::size_t i = 0; i < tables_.size(); ++i) LW_RETURN_IF_ERROR(Use(i, device));
    device.Compute(options_.step_s);
    device.Finish();
    backward_ended_ns_ = MonotonicClock::NowNs();
    std::vector<TablePush> pushes;
    for (std::size_t i = tables_.size(); i-- > 0;)
      pushes.push_back({tables_[i].id, tables_[i].gradient, HowToPush(i)});
    LW_RETURN_IF_ERROR(worker_->PushAll(std::move(pushes)).status());
    return worker_->Clock();
  }

  // Adds the waits since the last call.
  void Take(TrainStep& step) {
    step.waited_s = std::exchange(waited_s_, 0);
    step.first_values_s = first_values_s_;
  }
  WorkerCounters counters() const { return worker_->counters(); }

 private:
  Status Begin() {
    WorkerOptions worker;
    worker.scheduler = options_.scheduler;
    worker.link.transport = "tcp";  // every machine is this host, where `auto` would take shared memory
    worker.link.secret = options_.secret;
    worker.rank = options_.rank;
    worker.trace = options_.trace;
    LW_ASSIGN_OR_RETURN(worker_, Worker::Initialize(worker));
    for (const problem::Table& table : options_.tables) {
      TableSpec spec;
      spec.name = table.name;
      spec.shape = table.shape;
      const std::size_t elements = spec.elements();
      const std::shared_ptr<float> memory = worker_->Allocate(elements);
      if (memory == nullptr) return ResourceExhausted("no memory for {} values of {}", elements, table.name);
      std::fill_n(memory.get(), elements, kGradientValue);
      LW_ASSIGN_OR_RETURN(const TableId id, worker_->CreateTable(spec));
      tables_.push_back({id, {memory.get(), elements}, memory});
    }
    LW_RETURN_IF_ERROR(worker_->Start());
    // Any values do: those of the gradients are at hand.
    if (options_.rank == 0) {
      for (const EmulatedTable& table : tables_)
        LW_RETURN_IF_ERROR(worker_->Broadcast(table.id, table.gradient, table.pin));
    }
    for (const EmulatedTable& table : tables_) LW_RETURN_IF_ERROR(worker_->Sync(table.id).status());
    return worker_->Barrier("begin");
  }

  PushOptions HowToPush(std::size_t i) const {
    PushOptions how;
    how.hyper.lr = 0.1F;
    how.pin = tables_[i].pin;
    return how;
  }

  // A layer's part of a pass, as the trace names those of modules.
  void Compute(EmulatedDevice<MonotonicClock>& device, double seconds, const char* pass, std::size_t i) {
    Trace* const trace = worker_->trace();
    if (trace == nullptr || !trace->Wants(worker_->iteration())) return device.Compute(seconds);
    const TimePoint began = trace->Now();
    device.Compute(seconds);
    trace->Add({.name = pass,
                .of = options_.tables[i].name,
                .iteration = worker_->iteration(),
                .at = began,
                .until = trace->Now(),
                .track = Trace::kModulesTrack});
  }

  Status Use(std::size_t i, EmulatedDevice<MonotonicClock>& device) {
    const bool waits = !worker_->Ready(tables_[i].id);
    const std::int64_t began_ns = MonotonicClock::NowNs();
    LW_RETURN_IF_ERROR(worker_->Sync(tables_[i].id).status());
    const std::int64_t now_ns = MonotonicClock::NowNs();
    if (i == 0) first_values_s_ = static_cast<double>(now_ns - backward_ended_ns_) * 1e-9;
    if (!waits) return Status::Ok();
    device.Waited();
    waited_s_ += static_cast<double>(now_ns - began_ns) * 1e-9;
    return Status::Ok();
  }

  const EmulatedWorkerOptions& options_;
  std::vector<EmulatedTable> tables_;
  double waited_s_ = 0, first_values_s_ = 0;
  std::int64_t backward_ended_ns_ = MonotonicClock::NowNs();
  std::unique_ptr<Worker> worker_;  // last: its I/O thread uses the memory
};

// One machine without servers: the device alone.
Status AloneStep(const EmulatedWorkerOptions& options, EmulatedDevice<MonotonicClock>& device) {
  for (const double share : options.shares.forward) device.Compute(share * options.step_s);
  for (std::size_t i = options.shares.backward.size(); i-- > 0;)
    device.Compute(options.shares.backward[i] * options.step_s);
  return Status::Ok();
}

Status EmulatedStep(const EmulatedWorkerOptions& options, EmulatedTraining* training,
                    EmulatedDevice<MonotonicClock>& device) {
  switch (options.pass) {
    case TrainPass::kAlone:
      return AloneStep(options, device);
    case TrainPass::kTraditional:
      return training->TraditionalStep(device);
    case TrainPass::kWaitFree:
      return training->WaitFreeStep(device);
  }
  return Internal("unknown pass");
}

TrainTotals TotalsOf(const WorkerCounters& from, const WorkerCounters& to,
                     const EmulatedWorkerOptions& options) {
  const double exchanges = static_cast<double>(options.steps) * static_cast<double>(options.tables.size());
  return {.bytes_sent = static_cast<double>(to.bytes_sent - from.bytes_sent),
          .bytes_received = static_cast<double>(to.bytes_received - from.bytes_received),
          .exchanges = 1 - static_cast<double>(to.exchanges_skipped - from.exchanges_skipped) / exchanges,
          .communication_s = static_cast<double>(to.communication_ns - from.communication_ns) * 1e-9,
          .waited_s = static_cast<double>(to.communication_waited_ns - from.communication_waited_ns) * 1e-9};
}

Status TrainEmulated(const Child::Parent& parent, const EmulatedWorkerOptions& options,
                     EmulatedTraining* training) {
  EmulatedDevice<MonotonicClock> device;
  WorkerCounters counted_from;
  std::int64_t before_ns = MonotonicClock::NowNs();
  for (std::uint32_t step = 0; step < options.warm_up + options.steps; ++step) {
    if (step == options.warm_up && training != nullptr) counted_from = training->counters();
    LW_RETURN_IF_ERROR(EmulatedStep(options, training, device));
    const std::int64_t now_ns = MonotonicClock::NowNs();
    TrainStep noted{
        .rank = options.rank, .step = step, .seconds = static_cast<double>(now_ns - before_ns) * 1e-9};
    if (training != nullptr) training->Take(noted);
    parent.Tell(LineOf(noted));
    before_ns = now_ns;
  }
  const TrainTotals totals =
      training != nullptr ? TotalsOf(counted_from, training->counters(), options) : TrainTotals{};
  parent.Tell(LineOf(totals));
  return Status::Ok();
}

}  // namespace

int RunEmulatedWorker(Child::Parent& parent, const EmulatedWorkerOptions& options) {
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  std::unique_ptr<EmulatedTraining> training;
  if (options.pass != TrainPass::kAlone) {
    Result<std::unique_ptr<EmulatedTraining>> joined = EmulatedTraining::Join(options);
    if (!joined.ok()) return Fail(parent, joined.status());
    training = *std::move(joined);
  }
  if (const Status trained = TrainEmulated(parent, options, training.get()); !trained.ok())
    return Fail(parent, trained);
  (void)parent.Hear();  // the others may need its node until all are done
  training.reset();     // the end of its node writes the rest of a trace
  parent.Tell("ended");
  return 0;
}

std::string LineOf(const TrainStep& step) {
  return fmt::format("step {} {} {:.9f} {:.9f} {:.9f}", step.rank, step.step, step.seconds, step.waited_s,
                     step.first_values_s);
}

std::string LineOf(const TrainTotals& totals) {
  return fmt::format("totals {} {} {} {} {}", totals.bytes_sent, totals.bytes_received, totals.exchanges,
                     totals.communication_s, totals.waited_s);
}

bool ReadLine(const std::string& line, TrainStep& step) {
  std::istringstream words(line);
  std::string kind;
  return words >> kind >> step.rank >> step.step >> step.seconds >> step.waited_s >> step.first_values_s &&
         kind == "step";
}

bool ReadLine(const std::string& line, TrainTotals& totals) {
  std::istringstream words(line);
  std::string kind;
  return words >> kind >> totals.bytes_sent >> totals.bytes_received >> totals.exchanges >>
             totals.communication_s >> totals.waited_s &&
         kind == "totals";
}

}  // namespace leeway::bench
