// TableSpec: the definition of a table. All workers of a job give the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leeway/ids.h"

namespace leeway {

enum class DType : std::uint8_t { kFloat32 = 1 };

// The clock that counts a table's iterations: the job's (Clock), or the table's own, where each push is an
// iteration.
enum class TableClock : std::uint8_t { kJob = 0, kOwn = 1 };

// The reaction to a push that holds a NaN or an infinity.
enum class NonFinite : std::uint8_t { kRefuse = 0, kAccept = 1 };

struct TableSpec {
  std::string name = {};
  std::vector<std::int64_t> shape = {};
  DType dtype = DType::kFloat32;
  TableClock clock = TableClock::kJob;
  NonFinite nonfinite = NonFinite::kRefuse;
  std::string sync = {};       // spec string; empty: the job's
  std::string apply = {};      // empty: the default of the sync model; "relay": workers step (Worker::Sync)
  std::string optimizer = {};  // empty: sgd
  // Tables that are stepped together: Worker::Clock(group) ends an iteration of one group. Only workers know
  // groups; all workers give the same.
  std::uint32_t group = 0;

  [[nodiscard]] std::uint64_t elements() const {
    std::uint64_t n = 1;
    for (const std::int64_t d : shape) n *= static_cast<std::uint64_t>(d);
    return n;
  }
  friend bool operator==(const TableSpec&, const TableSpec&) = default;
};

}  // namespace leeway
