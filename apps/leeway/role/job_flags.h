// Flags that several commands share, declared once so that they read alike everywhere.
#pragma once

#include "cli/flag_set.h"
#include "leeway/options.h"

namespace leeway::app {

// -w, -s, --shards, --sync, --apply, --rule, --pull, --exchange, --no-overlap, --placement, --block-bytes,
// --seed, --job,
// --job-file.
void DeclareJobFlags(FlagSet& flags, JobOptions& job);
// --give-up-after, --beat, --silence-max.
void DeclareLinkFlags(FlagSet& flags, LinkOptions& link);
// --log.
void DeclareLogFlag(FlagSet& flags, std::string& level);
// What the two sync and apply flags of one command say together.
[[nodiscard]] Status CheckJobFlags(const JobOptions& job);
// The names that job flags take, for help.
[[nodiscard]] std::string JobLesson();

}  // namespace leeway::app
