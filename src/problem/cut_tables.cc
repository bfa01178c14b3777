#include "problem/cut_tables.h"

#include <algorithm>

namespace leeway::problem {

std::vector<Table> CutTables(std::span<const Table> tables, std::uint32_t parts) {
  if (parts == 1) return {tables.begin(), tables.end()};
  std::vector<Table> cut;
  for (const Table& table : tables) {
    const std::uint64_t elements = table.elements();
    const std::uint64_t count = std::min<std::uint64_t>(parts, elements);
    for (std::uint64_t part = 0; part < count; ++part) {
      const std::uint64_t size = elements * (part + 1) / count - elements * part / count;
      cut.push_back({.name = table.name + "." + std::to_string(part),
                     .shape = {static_cast<std::int64_t>(size)},
                     .multiply_adds = part + 1 == count ? table.multiply_adds : 0});
    }
  }
  return cut;
}

}  // namespace leeway::problem
