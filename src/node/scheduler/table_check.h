// Checks the definition of a table, and compares two definitions. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "leeway/status.h"
#include "leeway/table.h"
#include "wire/control.pb.h"

namespace leeway {

// Name, shape, dtype and enums of a definition from a worker; its specs are as given.
[[nodiscard]] Result<TableSpec> CheckedSpec(const wire::pb::Table& table);
// The first field that differs, specs as text: "shape: got [3], wanted [2, 3]"; nothing if equal.
[[nodiscard]] std::optional<std::string> Difference(const TableSpec& got, const TableSpec& wanted);
// All but id and blocks.
void FillTable(const TableSpec& spec, wire::pb::Table& out);

}  // namespace leeway
