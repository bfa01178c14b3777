// Functions about workers that wait for others. They turn answers of workers into those of the WaitGraph,
// name or give up workers that others wait for, and explain to a worker why it waits.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "node/scheduler/barriers.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/reports.h"
#include "node/scheduler/wait_graph.h"
#include "wire/control.pb.h"

namespace leeway {

// Reads the waits that this worker lists. An error if they are more than a correct worker has.
[[nodiscard]] Result<WaitGraph::Answer> ReadAnswer(const wire::pb::WhyReply& reply, WorkerId rank,
                                                   const Barriers& barriers, const Membership& members);

struct WaitReview {
  const Membership& members;
  std::chrono::milliseconds wait_max;  // of workers that have no limit of their own
  Epoch epoch;
  TimePoint now;
  Log& log;
  // Gives up this worker; false: the job is over.
  std::function<bool(WorkerId, const std::string& why)> give_up;
};
// Gives up workers that make no progress, and names those that are waited for. Returns the round of questions
// to ask, if one begins. An error ends the job: its members wait for each other.
[[nodiscard]] Result<std::optional<WaitGraph::Round>> ReviewWaits(WaitGraph& waits, const WaitReview& review);

// A worker asks why it waits. The answer names the workers that have not come, and the state of each.
struct WaitQuestion {
  const wire::pb::Why& why;
  WorkerId asks;
  TimePoint now;
};
[[nodiscard]] wire::pb::WhyReply ExplainWait(const WaitQuestion& question, const Membership& members,
                                             const Barriers& barriers, const Reports& reports,
                                             const WaitGraph& waits);

}  // namespace leeway
