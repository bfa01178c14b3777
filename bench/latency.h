// The latency bench: one push of 64 bytes with its verdict, one in flight, beside a bare socket's ping-pong
// of as many bytes; everything pinned to one core, and worker and server to two.
#pragma once

#include <cstdint>
#include <string>

#include "busy.h"
#include "figures.h"
#include "leeway/status.h"
#include "raw_socket.h"
#include "turns.h"

namespace leeway::bench {

struct LatencyOptions {
  std::string transport = "auto";
  std::uint32_t seconds = 8;  // for all turns together; at most 60
  std::uint32_t repeats = 5;  // turns of each kind
};

// Microseconds: medians over the turns of what each turn's were, and the ratios turn by turn.
struct LatencyRow {
  Figure p50_us, p99_us, raw_p50_us, raw_p99_us, p50_ratio, p99_ratio;
};

struct LatencyReport {
  LatencyOptions options;
  LatencyRow one_core, two_cores;
  Busy busy;
};

// The same kind of socket as frames travel on: TCP for tcp, else a Unix socket.
[[nodiscard]] RawKind RawKindFor(const std::string& transport);
[[nodiscard]] LatencyRow CompareLatency(const Side& leeway, const Side& raw);
[[nodiscard]] Status Check(const LatencyOptions& options);
// Forks: call it before the process has threads.
[[nodiscard]] Result<LatencyReport> RunLatency(const LatencyOptions& options);
[[nodiscard]] std::string ToJson(const LatencyReport& report);
[[nodiscard]] std::string ToText(const LatencyReport& report);

}  // namespace leeway::bench
