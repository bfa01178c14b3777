#include "scenario/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/check.h"

namespace leeway::scenario {
namespace {

// The largest of `values` over their mean; 1 where they are all the same, or nothing.
template <typename Values, typename Of>
double LargestOverMean(const Values& values, Of of) {
  double most = 0, all = 0;
  for (const auto& value : values) {
    most = std::max<double>(most, of(value));
    all += of(value);
  }
  return all > 0 ? most * static_cast<double>(values.size()) / all : 1;
}

double Imbalance(const RunRecord& record) {
  return LargestOverMean(record.server_bytes, [](double bytes) { return bytes; });
}

double TrafficOf(const ServerLoad& server) { return server.bytes_in + server.bytes_out; }

double Heaviest(const RunRecord& record) { return LargestOverMean(record.servers, TrafficOf); }

double QueuedMs(const RunRecord& record) {
  double bytes = 0, waited = 0;
  for (const ServerLoad& server : record.servers) {
    bytes += TrafficOf(server);
    waited += TrafficOf(server) * server.queued_mean_s;
  }
  return bytes > 0 ? waited / bytes * 1e3 : 0;
}

// The largest value of a server; 0 without servers.
template <typename Of>
double Largest(const RunRecord& record, Of of) {
  double most = 0;
  for (const ServerLoad& server : record.servers) most = std::max<double>(most, of(server));
  return most;
}

double QueuedMaxMs(const RunRecord& record) {
  return Largest(record, [](const ServerLoad& server) { return server.queued_max_s * 1e3; });
}

double SlowestServerMs(const RunRecord& record) {
  double most = 0;
  for (const double message_s : record.server_message_s) most = std::max(most, message_s);
  return most * 1e3;
}

double BusiestLink(const RunRecord& record) {
  return Largest(
      record, [](const ServerLoad& server) { return std::max(server.link_in_busy, server.link_out_busy); });
}

double BusiestProcessor(const RunRecord& record) {
  return Largest(record, [](const ServerLoad& server) { return server.processor_busy; });
}

std::vector<Figure> FiguresOfTime() {
  return {
      {"seconds", "time s", "until the last worker's last gradient",
       [](const RunRecord& r) { return r.seconds; }},
      {"seconds_per_100", "time s / 100", "... for 100 iterations of a worker",
       [](const RunRecord& r) { return r.seconds_per_100; }, Figure::Shown::kIfAsked},
      {"compute_s", "compute s", "a worker's computing, in seconds",
       [](const RunRecord& r) { return r.compute_s; }},
      {"wait_s", "wait s", "a worker's waiting for parameters, in seconds",
       [](const RunRecord& r) { return r.wait_s; }},
      {"communication_s", "comm. s",
       "per iteration, from the first worker's question for parameters to the last gradient, less the "
       "longest computing: seconds, the mean from the second iteration on",
       [](const RunRecord& r) { return r.pace.communication_s; }, Figure::Shown::kIfAsked},
      {"beyond_compute_s", "beyond compute s",
       "the same from the last gradient of the iteration before: adds up to the whole time less the longest "
       "computing",
       [](const RunRecord& r) { return r.pace.beyond_compute_s; }, Figure::Shown::kIfAsked},
      {"overlap", "overlap",
       "share of a worker's communication, from a gradient that is ready to the values of the next "
       "iteration, in which it did not wait; from 0 to 1",
       [](const RunRecord& r) { return r.overlap; }, Figure::Shown::kIfAsked},
      {"dprs_per_100", "DPRs / 100", "delayed pull requests of all workers and servers, per 100 iterations",
       [](const RunRecord& r) { return r.dprs_per_100; }},
      {"lead", "lead", "of workers over the blocks that their gradients were computed on, in iterations",
       [](const RunRecord& r) { return r.lead; }},
  };
}

std::vector<Figure> FiguresOfTraining() {
  return {
      {"loss", "loss", "of the servers' parameters at the end", [](const RunRecord& r) { return r.loss; }},
      {"accuracy", "accuracy", "... from 0 to 1", [](const RunRecord& r) { return r.accuracy; }},
      {"error", "error", "1 - accuracy", [](const RunRecord& r) { return 1 - r.accuracy; },
       Figure::Shown::kIfAsked},
      {"late_dropped", "late", "pushes that were dropped as late, by block",
       [](const RunRecord& r) { return static_cast<double>(r.late_dropped); }},
      {"skipped", "skipped", "iterations that workers left out to catch up",
       [](const RunRecord& r) { return static_cast<double>(r.skipped); }},
      {"skipped_blocks", "skipped blocks",
       "blocks that an iteration used without a newer version than the one before (partial pull)",
       [](const RunRecord& r) { return static_cast<double>(r.skipped_blocks); }},
      {"late_pulls", "late pulls",
       "answers, by block, that came after their iteration had begun without them",
       [](const RunRecord& r) { return static_cast<double>(r.late_pulls); }},
      {"withdrawn_answers", "withdrawn",
       "answers, by block, that servers did not send because the worker had asked for newer ones",
       [](const RunRecord& r) { return static_cast<double>(r.withdrawn); }},
      {"lost_workers", "lost workers", "workers that died before their work was done",
       [](const RunRecord& r) { return static_cast<double>(r.lost_workers); }},
      {"lost_servers", "lost servers", "servers that died before the end",
       [](const RunRecord& r) { return static_cast<double>(r.lost_servers); }},
      {"restores", "restores", "servers that went on from a checkpoint",
       [](const RunRecord& r) { return static_cast<double>(r.restores); }},
      {"lost_pushes", "lost pushes", "pushes of a block that were applied once, or sent, and that it lacks",
       [](const RunRecord& r) { return static_cast<double>(r.lost_pushes); }},
  };
}

std::vector<Figure> FiguresOfTraffic() {
  return {
      {"gigabytes", "GB", "through the network", [](const RunRecord& r) { return r.bytes * 1e-9; }},
      {"imbalance", "imbalance", "parameters of the server with the most, over the mean of all", &Imbalance},
      {"heaviest", "heaviest", "traffic of the server with the most, over the mean of all", &Heaviest,
       Figure::Shown::kIfAsked},
      {"queued_ms", "queued ms",
       "wait of a byte from or to a server at the cards: from when its sender has the message ready until "
       "the cards are through with it, less the time that it takes alone; milliseconds",
       &QueuedMs, Figure::Shown::kIfAsked},
      {"queued_max_ms", "longest queued ms", "the same of the message that waited longest", &QueuedMaxMs,
       Figure::Shown::kIfAsked},
      {"busiest_link", "busiest link",
       "share of the time in which the busiest direction of a server's card carries messages", &BusiestLink,
       Figure::Shown::kIfAsked},
      {"busiest_processor", "busiest processor",
       "share of the time in which the busiest server works on messages", &BusiestProcessor,
       Figure::Shown::kIfAsked},
      {"slowest_server_ms", "slowest server ms",
       "from the sending of a worker's message until the server is done with it: the mean of the server that "
       "takes longest, in milliseconds",
       &SlowestServerMs, Figure::Shown::kIfAsked},
      {"messages", "messages", "through the network",
       [](const RunRecord& r) { return static_cast<double>(r.messages); }},
  };
}

const std::vector<Figure>& Table() {
  static const std::vector<Figure> figures = [] {
    std::vector<Figure> all = FiguresOfTime();
    std::ranges::move(FiguresOfTraining(), std::back_inserter(all));
    std::ranges::move(FiguresOfTraffic(), std::back_inserter(all));
    return all;
  }();  // made once; nobody changes it
  return figures;
}

}  // namespace

std::span<const Figure> AllFigures() { return Table(); }

const Figure& FigureNamed(std::string_view name) {
  const auto found = std::ranges::find(Table(), name, &Figure::name);
  LW_CHECK(found != Table().end());
  return *found;
}

Spread SpreadOf(std::span<const double> values) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Spread spread{.mean = 0, .deviation = 0, .low = HUGE_VAL, .high = -HUGE_VAL};
  double n = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    spread.mean += value;
    spread.low = std::min(spread.low, value);
    spread.high = std::max(spread.high, value);
    ++n;
  }
  if (n == 0) return {kNone, kNone, kNone, kNone};
  spread.mean /= n;
  double squares = 0;
  for (const double value : values) {
    if (std::isfinite(value)) squares += (value - spread.mean) * (value - spread.mean);
  }
  spread.deviation = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return spread;
}

Spread SpreadOf(const Figure& figure, std::span<const RunRecord> records) {
  std::vector<double> values;
  for (const RunRecord& record : records) {
    if (record.errors.empty()) values.push_back(figure.of(record));
  }
  return SpreadOf(values);
}

std::string ToText(const Spread& spread, std::size_t seeds) {
  if (!std::isfinite(spread.mean)) return "-";
  const double size = std::abs(spread.mean);
  if (size >= 1e9) return fmt::format("{:.3g}", spread.mean);  // of one that diverges
  const bool whole = size >= 1000 || (seeds < 2 && size == std::floor(size));
  const int decimals = whole ? 0 : (size >= 100 ? 1 : (size >= 1 || size == 0 ? 2 : 4));
  if (seeds < 2) return fmt::format("{:.{}f}", spread.mean, decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", spread.mean, decimals, spread.deviation, decimals);
}

}  // namespace leeway::scenario
