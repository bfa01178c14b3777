// FlagFile: values of flags from a file, under the flags' own names: `--block-bytes` is the key block_bytes.
//
// role/job_file.h reads the file's syntax; here its values meet the flags of a command. A flag on the command
// line overrides the file. A flag that may be given several times takes both, the file's first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/flag_set.h"
#include "leeway/status.h"

namespace leeway::app {

struct FileValue {
  enum class Kind : std::uint8_t { kText, kNumber, kSwitch, kTexts, kOther };
  std::string key;
  std::uint32_t line = 0;
  Kind kind = Kind::kOther;
  std::vector<std::string> texts;  // one, but of kTexts any number; "true" and "false" of a switch
  std::string got;                 // how a message calls it: `"4"`, `a table`
};

struct FlagFile {
  std::string name;  // for messages
  std::vector<FileValue> values;
};

// Gives each value to its flag unless `given` says that the command line has it: values of flags that come
// first if `first`, else those of all others. An error names file, line and key.
[[nodiscard]] Status TakeFile(const FlagFile& file, const FlagSet& flags, bool first,
                              const std::function<bool(const Flag&)>& given);

}  // namespace leeway::app
