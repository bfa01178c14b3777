// Shared parts of the commands of `leeway bench`: flags that several have, and the printing of a report.
#pragma once

#include <fmt/format.h>

#include <string>

#include "bench/pushpull.h"
#include "cli/flag_set.h"
#include "role/job_flags.h"

namespace leeway::app {

// Flags for the shape of pushes and pulls, and for the transport.
inline void DeclareShape(FlagSet& flags, bench::PushPullOptions& options) {
  DeclareTransportFlag(flags, options.transport);
  flags.Bytes("--block-bytes", options.block_bytes, 4, 64U << 20, "size of a block");
  flags.Number("--blocks", "N", options.blocks, 0, 1U << 20,
               "blocks; 0: a working set of 64 MiB, at most 1024 blocks");
  flags.Number("--in-flight", "N", options.in_flight, 0, 65'536,
               "pairs of a worker under way at once; 0: 8 MiB of them, 4 to 64");
}

// As one line of JSON, or for people.
template <typename Report>
void PrintReport(const Report& report, bool json) {
  const std::string text = json ? ToJson(report) : ToText(report);
  fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
}

}  // namespace leeway::app
