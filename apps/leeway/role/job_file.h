// The job file: what a job is, as TOML, under the names of the flags that say the same.
//
//   workers = 4
//   sync = "ssp:3"
//   block_bytes = "1MiB"
//
//   [[rule]]                     # the last rule that fits a table and a server counts
//   tables = "fc*"
//   server = 1
//   sync = "psp:2,50"
#pragma once

#include <string>
#include <string_view>

#include "cli/flag_file.h"
#include "leeway/status.h"

namespace leeway::app {

// The keys of the file in the order of their lines; rules become values of "rule", as the flag takes them.
// Wrong TOML or a wrong [[rule]] is an error that names `name` and the line.
[[nodiscard]] Result<FlagFile> ParseJobFile(std::string_view text, const std::string& name);
[[nodiscard]] Result<FlagFile> ReadJobFile(const std::string& path);

}  // namespace leeway::app
