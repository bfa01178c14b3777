// The push/pull bench: workers and servers over one transport, beside the same bytes over a bare socket, and
// beside the limit.
//
// A pair is a push of one block with its verdict and a pull of it with its answer. The bare peer
// (raw_socket.h) sends the same blocks there and back, with the same number in flight, over the same working
// sets and on the same cores; the limit (limit.h) adds and copies them in one thread. All take turns in one
// run, and the figures are medians over the turns. docs/performance.md says what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "busy.h"
#include "figures.h"
#include "leeway/status.h"
#include "shape.h"
#include "turns.h"

namespace leeway::bench {

struct PushPullOptions {
  std::string transport = "auto";
  std::uint32_t block_bytes = 1U << 20;  // a multiple of 4, at most 64 MiB
  std::uint32_t blocks = 0;              // 0: a working set of 64 MiB, but at most 1024 blocks
  std::uint32_t in_flight = 0;  // pairs of one worker under way at once; 0: 8 MiB, at least 4, at most 64
  std::uint32_t workers = 1, servers = 1;
  std::uint32_t seconds = 9;  // for all turns together; at most 60
  std::uint32_t repeats = 5;  // turns of each kind
};

// The figures of one side: medians over its turns.
struct PushPullFigures {
  double gb_s_each_way = 0;  // bytes of payload one way per second, in 1e9; as many go the other way
  double pairs_s = 0;
  double spread = 0;               // (max - min) / median of pairs_s
  double cpu_s_per_gb = 0;         // processor seconds of all processes per GB each way
  double server_cpu_s_per_gb = 0;  // of the servers' alone
  double p50_us = 0, p99_us = 0;   // of one pair, with the others in flight
  // Per GB of pushes and pulls together.
  [[nodiscard]] double cpu_s_per_gb_moved() const { return cpu_s_per_gb / 2; }
};

struct PushPullReport {
  PushPullOptions options;  // with nothing left at 0
  PushPullFigures leeway, raw, limit;
  Figure ratio, limit_ratio;    // leeway / raw and leeway / limit, turn by turn
  Figure cpu_ratio;             // of the processor seconds per GB: leeway / raw
  double idle_cpu_percent = 0;  // of a worker process, connected and with nothing to do
  Busy busy;
};

// Fills in defaults and checks; the message names the wrong option.
[[nodiscard]] Result<PushPullOptions> Complete(PushPullOptions options);
[[nodiscard]] Shape ShapeOf(const PushPullOptions& complete);
[[nodiscard]] PushPullFigures Summarize(const Side& side, std::size_t block_bytes);
// Runs it, in a few seconds more than options.seconds. Forks: call it before the process has threads.
[[nodiscard]] Result<PushPullReport> RunPushPull(const PushPullOptions& options);
// One JSON object on one line.
[[nodiscard]] std::string ToJson(const PushPullReport& report);
// A few lines for people.
[[nodiscard]] std::string ToText(const PushPullReport& report);

}  // namespace leeway::bench
