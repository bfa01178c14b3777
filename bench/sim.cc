#include "sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/errors.h"
#include "json_line.h"
#include "line_latency.h"
#include "range.h"
#include "scenario/run_scenario.h"
#include "sim/event_queue.h"

namespace leeway::bench {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

double SecondsBetween(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
}
// About what the nodes of 16 and of 1,024 workers keep.
constexpr std::size_t kNearBytes = std::size_t{1} << 20, kFarBytes = std::size_t{128} << 20;

// Iterations of each worker that do not count: pools fill, and nodes find out what they need.
constexpr std::uint64_t kWarmUp = 2;

SteadyTime Now() { return std::chrono::steady_clock::now(); }

scenario::Scenario ScenarioOf(const SimOptions& options, std::uint32_t workers) {
  scenario::Scenario scenario;
  scenario.job.workers = workers;
  scenario.job.servers = 16;
  scenario.job.sync = "ssp:3";
  scenario.job.block_bytes = 1U << 30;  // a table is a block
  scenario.problem = fmt::format("ghost:{},grain=65536", options.model);
  scenario.compute.base_s = 1;
  scenario.compute.spread = 0.1;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 12.5e9;
  scenario.server.per_message_s = 1e-6;
  scenario.iterations = std::max<std::uint64_t>(options.steps / workers, kWarmUp + 2);
  scenario.recording.map_columns = 1;
  return scenario;
}

Result<SimRow> Measure(const SimOptions& options, std::uint32_t workers,
                       const Registry<problem::Problem>& problems) {
  struct Look {
    SteadyTime at;
    std::uint64_t messages;
  };
  std::optional<Look> first, last;
  const SteadyTime begin = Now();
  const auto look = [&](const scenario::RunProgress& progress) {
    if (progress.iterations < kWarmUp * workers || progress.training < workers) return true;
    last = Look{Now(), progress.messages};
    if (!first) first = last;
    return true;
  };
  LW_ASSIGN_OR_RETURN(const scenario::RunRecord record,
                      RunScenario(ScenarioOf(options, workers), problems, 1, look));
  const SteadyTime end = Now();
  if (!record.errors.empty()) return Internal("{} workers: {}", workers, record.errors[0]);
  if (!first || last->messages == first->messages) {
    return InvalidArgument("steps: got {}, too few to measure {} workers", options.steps, workers);
  }
  SimRow row;
  row.workers = workers;
  row.events = last->messages - first->messages;
  row.train_wall_s = SecondsBetween(first->at, last->at);
  row.events_s = static_cast<double>(row.events) / row.train_wall_s;
  row.event_ns = 1e9 / row.events_s;
  row.simulated_s = record.seconds;
  row.start_wall_s = SecondsBetween(begin, first->at);
  row.end_wall_s = SecondsBetween(last->at, end);
  return row;
}

SimRow MedianOf(const std::vector<SimRow>& turns) {
  SimRow row = turns[0];  // all turns simulate the same
  const auto values_of = [&turns](double SimRow::*figure) {
    std::vector<double> values(turns.size());
    std::ranges::transform(turns, values.begin(), figure);
    return values;
  };
  const auto median = [&](double SimRow::*figure) { return Median(values_of(figure)); };
  const Figure events_s = Summary(values_of(&SimRow::events_s));
  row.events_s = events_s.median;
  row.spread = events_s.spread;
  row.event_ns = 1e9 / row.events_s;
  row.train_wall_s = median(&SimRow::train_wall_s);
  row.start_wall_s = median(&SimRow::start_wall_s);
  row.end_wall_s = median(&SimRow::end_wall_s);
  return row;
}

// Events that schedule the next one, as many pending as a job of a hundred workers has.
double QueueRate() {
  constexpr std::uint64_t kPending = 1024, kEvents = 2'000'000;
  sim::EventQueue queue;
  std::uint64_t left = kEvents;
  struct Again {
    sim::EventQueue* queue;
    std::uint64_t* left;
    void operator()() const {
      if (--*left > kPending) queue->After(Duration(1 + (*left * 7919) % 100'000), *this);
    }
  };
  for (std::uint64_t i = 0; i < kPending; ++i) queue.After(Duration(i), Again{&queue, &left});
  const SteadyTime begin = Now();
  while (queue.RunOne()) {
  }
  return static_cast<double>(kEvents) / SecondsBetween(begin, Now());
}

}  // namespace

Result<SimReport> RunSim(const SimOptions& options) {
  LW_RETURN_IF_ERROR(CheckRange("steps", options.steps, 4096, 1U << 24));
  LW_RETURN_IF_ERROR(CheckRange("repeats", options.repeats, 1, 100));
  SimReport report;
  report.options = options;
  const Registry<problem::Problem> problems = problem::BuiltinProblems();
  const BusyMeter meter;
  report.queue_events_s = QueueRate();
  report.near_line_ns = LineLatencyNs(kNearBytes);
  report.far_line_ns = LineLatencyNs(kFarBytes);
  std::vector<std::vector<SimRow>> turns(kSimWorkers.size());  // of each row
  std::vector<double> growths;
  for (std::uint32_t turn = 0; turn < options.repeats; ++turn) {
    double slowest = 0, fastest = HUGE_VAL;
    for (std::size_t i = 0; i < kSimWorkers.size(); ++i) {
      const std::size_t row = turn % 2 == 0 ? i : kSimWorkers.size() - 1 - i;
      LW_ASSIGN_OR_RETURN(const SimRow measured, Measure(options, kSimWorkers[row], problems));
      slowest = std::max(slowest, measured.event_ns);
      fastest = std::min(fastest, measured.event_ns);
      turns[row].push_back(measured);
    }
    growths.push_back(slowest / fastest);
  }
  for (const std::vector<SimRow>& row : turns) report.rows.push_back(MedianOf(row));
  report.growth = Summary(growths);
  report.ratio = report.rows[0].events_s / report.queue_events_s;
  report.busy = meter.End();
  return report;
}

std::string ToJson(const SimReport& report) {
  JsonLine line;
  line.Text("bench", "sim")
      .Text("model", report.options.model)
      .Real("events_s", report.rows[0].events_s, 6)
      .Real("events_s_spread", report.rows[0].spread)
      .Real("events_s_min", 1e9 / std::ranges::max(report.rows, {}, &SimRow::event_ns).event_ns, 6)
      .All(JsonOf("growth", report.growth))
      .Whole("repeats", report.options.repeats)
      .Real("queue_events_s", report.queue_events_s, 6)
      .Real("ratio", report.ratio)
      .Real("near_line_ns", report.near_line_ns)
      .Real("far_line_ns", report.far_line_ns);
  for (const SimRow& row : report.rows) {
    const std::string of = fmt::format("workers_{}_", row.workers);
    line.Whole(of + "events", row.events)
        .Real(of + "events_s", row.events_s, 6)
        .Real(of + "event_ns", row.event_ns)
        .Real(of + "simulated_s", row.simulated_s)
        .Real(of + "train_wall_s", row.train_wall_s)
        .Real(of + "start_wall_s", row.start_wall_s)
        .Real(of + "end_wall_s", row.end_wall_s);
  }
  return line.All(JsonOf(report.busy)).Done();
}

std::string ToText(const SimReport& report) {
  std::string text =
      fmt::format("{}, sizes only, 16 servers, ssp:3; {} steps of workers in each row, {} turns\n\n",
                  report.options.model, report.options.steps, report.options.repeats);
  text += fmt::format("{:>8}{:>12}{:>12}{:>10}{:>14}{:>12}{:>10}{:>10}\n", "workers", "events", "events/s",
                      "ns/event", "simulated s", "training s", "start s", "end s");
  for (const SimRow& row : report.rows) {
    text += fmt::format("{:>8}{:>12}{:>12.0f}{:>10.0f}{:>14.1f}{:>12.2f}{:>10.2f}{:>10.2f}\n", row.workers,
                        row.events, row.events_s, row.event_ns, row.simulated_s, row.train_wall_s,
                        row.start_wall_s, row.end_wall_s);
  }
  text += fmt::format(
      "\nthe slowest row takes {:.2f} times the time per event of the fastest ({:.2f} to {:.2f}); the event "
      "queue alone runs {:.0f} events/s, the simulation of {} workers {:.2f} times as many\n",
      report.growth.median, report.growth.low, report.growth.high, report.queue_events_s,
      report.rows[0].workers, report.ratio);
  text += fmt::format(
      "a line of memory out of {} MiB, about what 16 workers keep, takes {:.1f} ns; out of {} MiB, as of "
      "1,024 workers, {:.1f} ns\n",
      kNearBytes >> 20, report.near_line_ns, kFarBytes >> 20, report.far_line_ns);
  return text + TextOf(report.busy);
}

}  // namespace leeway::bench
