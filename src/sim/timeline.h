// The timeline workload: workers of known, uneven pace under one synchronization model, and the activities of
// each over time. For pictures of a model, and for people who want to see its effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assembly/policies.h"
#include "leeway/env.h"

namespace leeway::sim {

struct TimelineOptions {
  std::uint64_t seed = 1;  // seeds the coins of models, and the variation of steps
  Policies policies = Policies::Builtin();
  std::string sync = "bsp";
  std::string apply;  // empty: the model's own
  // The time of a step, of each worker; each step differs from it by up to a tenth.
  std::vector<Duration> steps = {std::chrono::milliseconds(10), std::chrono::milliseconds(12),
                                 std::chrono::milliseconds(15), std::chrono::milliseconds(40)};
  Duration length = std::chrono::milliseconds(400);  // no step begins later
};

// One iteration of one worker: it waited for values from `asked` on, and computed from `began` to `ended`.
struct TimelineSpan {
  std::uint32_t worker = 0;
  std::int64_t iteration = 0;
  Duration asked{}, began{}, ended{};
};

struct TimelineReport {
  std::vector<std::string> problems;  // empty: no problem
  std::vector<TimelineSpan> spans;    // in the order of their ends; the first values came at time 0
  std::uint64_t delayed = 0;          // pulls that waited
  std::uint64_t late_dropped = 0;     // pushes
};

[[nodiscard]] TimelineReport RunTimeline(const TimelineOptions& options);

// For people: one line per worker, of at most `columns`: # and = compute, . waits, and the share of waits.
[[nodiscard]] std::string TimelineText(const TimelineOptions& options, const TimelineReport& report,
                                       std::size_t columns);

}  // namespace leeway::sim
