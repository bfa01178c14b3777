// RunRecord: the results of one run of a scenario. All times are simulated, from the moment when all workers
// begin their first iteration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/iteration_pace.h"

namespace leeway::scenario {

// The parameters that a worker sees which begins an iteration, and at the end those of the servers.
struct CurvePoint {
  double seconds = 0;
  std::uint64_t iteration = 0;  // that the workers have done by then, on average
  double loss = 0, accuracy = 0;
};

// One iteration of one worker: when it asks for parameters, has them, has a gradient.
struct IterationSpan {
  std::uint32_t rank = 0;
  std::uint64_t iteration = 0;
  double asked_s = 0, began_s = 0, ended_s = 0;
  double first_s = 0;  // the table that it uses first is there
};

// The times of one worker in a run.
struct WorkerTimes {
  std::uint64_t iterations = 0;
  double compute_s = 0, wait_s = 0;
  double ended_s = 0;  // its last gradient was pushed
};

// Values of one quantity by worker (rows) and time (columns).
struct TimeMap {
  std::uint32_t rows = 0, columns = 0;
  double column_s = 0;
  std::vector<double> values;  // row by row; not a number where the worker did nothing
};

// One server while workers train, of both directions of its card and all its shards.
struct ServerLoad {
  double bytes_in = 0, bytes_out = 0;
  // Shares of the time from the first iteration until no worker trains any more.
  double link_in_busy = 0, link_out_busy = 0, processor_busy = 0;
  // The time from when the sender of a message has it ready until the cards are through with it, less the
  // time that it takes alone: the mean over bytes, and the longest.
  double queued_mean_s = 0, queued_max_s = 0;
};

struct RunRecord {
  std::uint64_t seed = 0;
  std::vector<std::string> errors;   // empty: the job ended well
  double seconds = 0;                // until the last worker had done its last iteration
  double compute_s = 0, wait_s = 0;  // of a worker on average
  std::uint64_t iterations = 0;      // that workers went through, together
  std::uint64_t skipped = 0;         // ... and that they left out to catch up
  double loss = 0, accuracy = 0;     // of the servers' parameters at the end; not a number if it has none
  // Pulls that had to wait (DPRs), as requests of a worker to a server: the blocks of one request count once
  // together.
  double dprs = 0;
  double dprs_per_100 = 0;  // ... per 100 iterations of the job
  double seconds_per_100 = 0;
  // The share of their communication that workers did not wait for; not a number if nobody communicated.
  double overlap = 0;
  double lead = 0;  // over the blocks that gradients were computed on, in iterations, on average
  std::uint64_t applied = 0, late_dropped = 0;  // pushes, by block
  // Processes that died before their work was done, and servers that went on from a checkpoint.
  std::uint64_t lost_workers = 0, lost_servers = 0, restores = 0;
  std::uint64_t lost_pushes = 0;     // pushes of a block that were applied once, or sent, and that it lacks
  std::uint64_t messages = 0;        // delivered
  std::uint64_t events = 0;          // of the simulation
  double bytes = 0;                  // through the network
  std::vector<double> server_bytes;  // parameters that each server has
  // Of each server: the time of a worker's message from its sending until the server is done with it, on
  // average.
  std::vector<double> server_message_s;
  std::vector<WorkerTimes> workers;  // by rank
  std::vector<ServerLoad> servers;
  // Blocks that an iteration used without a newer version than the one before (partial pull), and answers
  // that came after their iteration had begun without them. Of all workers together.
  std::uint64_t skipped_blocks = 0, late_pulls = 0;
  // Answers that servers did not send, because the worker had asked for newer ones (late_pull=withdraw).
  std::uint64_t withdrawn = 0;
  PaceOfIterations pace;
  std::vector<CurvePoint> curve;
  std::vector<IterationSpan> timeline;  // of the window
  TimeMap lag;                          // iterations behind the worker that is furthest
  TimeMap waits;                        // share of the time that was waited
  // The share of all workers' iterations that waited for parameters as long as each bin says.
  std::vector<double> wait_bins;
  // The share of the servers' answers, while workers train, that took so long from sending to delivery.
  std::vector<double> answer_bins;
};

// Bins of times have equal widths on a logarithmic scale; the first also holds shorter times, the last longer
// ones.
inline constexpr std::size_t kTimeBins = 88;
[[nodiscard]] std::size_t TimeBinOf(double seconds);
[[nodiscard]] double TimeBinMiddle(std::size_t bin);  // seconds

}  // namespace leeway::scenario
