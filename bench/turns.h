// Turns: several sides of a comparison run alternately in one run, so that a machine that slows down or
// speeds up favours none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "child.h"
#include "latency_histogram.h"
#include "leeway/status.h"

namespace leeway::bench {

// The work of one side in one turn.
struct Turn {
  double count = 0;  // of pairs, pushes, blocks
  double seconds = 0;
  double cpu_s = 0;         // processor time of all its processes
  double server_cpu_s = 0;  // of its servers alone
  LatencyHistogram latency;
  [[nodiscard]] double rate() const { return count / seconds; }
};

struct Side {
  std::string name;
  std::function<Result<Turn>(double seconds)> run;
  std::vector<Turn> turns = {};
  // One number of every turn.
  [[nodiscard]] std::vector<double> Each(const std::function<double(const Turn&)>& of) const;
  [[nodiscard]] std::vector<double> Rates() const;
};

struct TurnPlan {
  double warm_seconds = 0.25;
  double seconds = 0.5;  // of one turn
  std::uint32_t repeats = 5;
};

// One turn of each to warm up, which does not count, then `repeats` of each. An error names the side.
[[nodiscard]] Status TakeTurns(std::vector<Side>& sides, const TurnPlan& plan);

// A child that can be told to "run" for some seconds: what it answers, and one turn of several of them at
// once.
using RunFor = std::function<Result<std::uint64_t>(double seconds, LatencyHistogram& latency)>;
[[nodiscard]] Orders RunOrder(RunFor run);
using Children = std::vector<std::unique_ptr<Child>>;
[[nodiscard]] Result<Turn> RunTogether(const Children& clients, const Children& servers, double seconds);
// All of them are asked first, then all are heard.
[[nodiscard]] Status AskAll(const Children& children, const std::string& line,
                            std::chrono::milliseconds limit = std::chrono::seconds(60));
[[nodiscard]] Status HearAll(const Children& children, const std::string& wanted,
                             std::chrono::milliseconds limit = std::chrono::seconds(60));

}  // namespace leeway::bench
