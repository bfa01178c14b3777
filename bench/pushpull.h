// The push/pull bench: one worker and one server process over TCP, beside the same bytes over a bare socket.
//
// A pair is a push of one block with its verdict and a pull of it with its answer. The bare peer
// (raw_socket.h) sends the same blocks there and back, with the same number in flight, over the same working
// sets and on the same cores. Both run in turns in one run, and the figures are medians over the turns.
// docs/performance.md says what they mean.
#pragma once

#include <cstdint>
#include <string>

#include "leeway/status.h"

namespace leeway::bench {

struct PushPullOptions {
  std::string transport = "tcp";
  std::uint32_t block_bytes = 1U << 20;  // a multiple of 4, at most 64 MiB
  std::uint32_t blocks = 0;              // 0: a working set of 64 MiB, but at most 4096 blocks
  std::uint32_t in_flight = 0;           // pairs under way at once; 0: 8 MiB of them, at least 4, at most 64
  std::uint32_t seconds = 8;             // for all turns together; at most 12
  std::uint32_t repeats = 5;             // turns of each kind
};

// What one of the two gave: medians over its turns.
struct PushPullFigures {
  double gb_s_each_way = 0;  // bytes of payload one way per second, in 1e9; as many go the other way
  double pairs_s = 0;
  double spread = 0;               // (max - min) / median of pairs_s
  double cpu_s_per_gb = 0;         // processor seconds of both processes per GB each way
  double server_cpu_s_per_gb = 0;  // of the server's alone
  double p50_us = 0, p99_us = 0;   // of one pair, with the others in flight
};

struct PushPullReport {
  PushPullOptions options;  // with nothing left at 0
  PushPullFigures leeway, raw;
  double ratio = 0, ratio_min = 0, ratio_max = 0;  // leeway / raw, turn by turn: the median and the extremes
  double idle_cpu_percent = 0;                     // of the worker process, connected and with nothing to do
  double busy = 0;  // share of the machine that others used just before the run, 0 to 1
  int cores = 0;
};

// Fills in defaults and checks; the message names what is wrong.
[[nodiscard]] Result<PushPullOptions> Complete(PushPullOptions options);
// Runs it, in at most about 15 s. Forks: call it before the process has threads.
[[nodiscard]] Result<PushPullReport> RunPushPull(const PushPullOptions& options);
// One JSON object on one line.
[[nodiscard]] std::string ToJson(const PushPullReport& report);
// A few lines for people.
[[nodiscard]] std::string ToText(const PushPullReport& report);

}  // namespace leeway::bench
