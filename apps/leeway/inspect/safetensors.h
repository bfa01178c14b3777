// ExportSafetensors: the values of a checkpoint as a file that many programs read.
//
// The format: u64 (little-endian) bytes of the header; the header, a JSON object from a name to type, shape
// and the place of the values in what follows; the values, without gaps.
#pragma once

#include <cstdint>
#include <string>

#include "leeway/status.h"

namespace leeway::app {

struct Exported {
  std::uint64_t tables = 0, bytes = 0;
};

// Writes the tables of `checkpoint`, the folder of one, to `out`; a block without values as zeros. Leaves out
// tables that leeway.torch has made for itself. Refuses a checkpoint with tables under apply=relay. The file
// is there as a whole, or as it was before.
[[nodiscard]] Result<Exported> ExportSafetensors(const std::string& checkpoint, const std::string& out);

}  // namespace leeway::app
