// Flags that several commands share, declared once so that they read alike everywhere.
#pragma once

#include <string>
#include <vector>

#include "assembly/policies.h"
#include "cli/flag_set.h"
#include "leeway/env.h"
#include "leeway/options.h"

namespace leeway::app {

// Where the values that are checked together came from, for messages: a flag, or a line of the job file.
struct JobOrigins {
  std::string sync = "--sync", apply = "--apply";
  std::vector<std::string> rules;  // of each
};

// -w, -s, --shards, --sync, --apply, --rule, --pull, --exchange, --no-overlap, --priorities, --pull-at,
// --placement, --block-bytes, --seed, --job, --job-file. `origins`, if given, is filled as they are taken.
// `policies` are asked then.
void DeclareJobFlags(FlagSet& flags, JobOptions& job, const Policies& policies,
                     JobOrigins* origins = nullptr);
// --give-up-after, --beat, --silence-max.
void DeclareCoresFlag(FlagSet& flags, std::string& cores);
void DeclareTransportFlag(FlagSet& flags, std::string& transport);
void DeclareLinkFlags(FlagSet& flags, LinkOptions& link);
// --log.
void DeclareLogFlag(FlagSet& flags, LogLevel& level);
// "debug", "info", "warning", "error".
[[nodiscard]] const char* NameOf(LogLevel level);
// Whether the job's sync, apply and rules fit each other and its workers and servers.
[[nodiscard]] Status CheckJobFlags(const JobOptions& job, const Policies& policies,
                                   const JobOrigins& origins = {});
// The names that job flags take, for help.
[[nodiscard]] std::string JobLesson();

}  // namespace leeway::app
