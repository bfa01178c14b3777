// What the commands of `leeway bench` have in common: the transport's flag, and how a report is printed.
#pragma once

#include <fmt/format.h>

#include <string>

#include "bench/leeway_job.h"
#include "cli/flag_set.h"

namespace leeway::app {

inline void DeclareTransport(FlagSet& flags, std::string& target) {
  flags.Text("--transport", "NAME", target,
             "auto (local where it works), local (shared memory), uds (a Unix socket), tcp",
             bench::CheckTransport);
}

// As one line of JSON, or for people.
template <typename Report>
void PrintReport(const Report& report, bool json) {
  const std::string text = json ? ToJson(report) : ToText(report);
  fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
}

}  // namespace leeway::app
