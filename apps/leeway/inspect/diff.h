// DiffCheckpoints: how far apart two checkpoints are, table by table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "leeway/ids.h"
#include "leeway/status.h"

namespace leeway::app {

// One side of a table.
struct TableSide {
  std::uint64_t steps = 0;                        // of the optimizer; the most of any block
  std::int64_t v_train_min = 0, v_train_max = 0;  // over its blocks
  double norm = 0;                                // of its values
};

struct TableDiff {
  std::string name;
  std::uint64_t elements = 0;
  std::optional<TableSide> a, b;  // nothing: the table is not there
  bool same_shape = true;
  double norm = 0;     // of a - b: Euclidean; blocks without values count as zeros
  double max_abs = 0;  // NaN if any difference is
};

// `a` and `b` are folders of checkpoints. Tables go by name, and may be cut into blocks differently.
[[nodiscard]] Result<std::vector<TableDiff>> DiffCheckpoints(const std::string& a, const std::string& b);

// The states that one rank gave. Only its client knows their content.
struct RankDiff {
  WorkerId rank{};
  std::optional<std::int64_t> iteration_a, iteration_b;  // nothing: it gave none
  std::uint64_t bytes_a = 0, bytes_b = 0;                // of the state alone
  bool same = false;                                     // bit for bit
};
[[nodiscard]] Result<std::vector<RankDiff>> DiffRanks(const std::string& a, const std::string& b);

}  // namespace leeway::app
