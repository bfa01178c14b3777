#include "inspect/diff.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "checkpoint/layout.h"
#include "checkpoint/rank_file.h"
#include "inspect/checkpoint_folder.h"
#include "inspect/open_file.h"

namespace leeway::app {
namespace {

struct LoadedTable {
  TableSide side;
  std::vector<float> values;
};

Result<LoadedTable> Load(const std::string& checkpoint, const Manifest& manifest,
                         const ManifestTable& table) {
  LoadedTable loaded;
  loaded.values.resize(table.spec.elements());
  double squares = 0;
  for (const ManifestBlock& block : table.blocks) {
    LW_ASSIGN_OR_RETURN(const BlockRecord record, ReadRecord(checkpoint, manifest, block));
    const std::int64_t v_train = record.state.progress.v_train.value();
    const bool first = &block == &table.blocks.front();
    loaded.side.v_train_min = first ? v_train : std::min(loaded.side.v_train_min, v_train);
    loaded.side.v_train_max = first ? v_train : std::max(loaded.side.v_train_max, v_train);
    loaded.side.steps = std::max(loaded.side.steps, record.state.steps);
    if (record.state.values == nullptr) continue;
    std::ranges::copy(record.state.values->floats(),
                      loaded.values.begin() + static_cast<std::ptrdiff_t>(block.offset));
    for (const float f : record.state.values->floats()) squares += double{f} * double{f};
  }
  loaded.side.norm = std::sqrt(squares);
  return loaded;
}

void Compare(const std::vector<float>& a, const std::vector<float>& b, TableDiff& diff) {
  double squares = 0, most = 0;
  bool nan = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // The same infinity, or the same NaN, on both sides is no difference.
    if (std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i])) continue;
    const double d = std::abs(double{a[i]} - double{b[i]});
    nan = nan || std::isnan(d);
    squares += d * d;
    most = std::max(most, d);
  }
  diff.norm = std::sqrt(squares);
  diff.max_abs = nan ? std::numeric_limits<double>::quiet_NaN() : most;
}

const ManifestTable* Find(const Manifest& manifest, const std::string& name) {
  const auto found =
      std::ranges::find(manifest.tables, name, [](const ManifestTable& t) { return t.spec.name; });
  return found == manifest.tables.end() ? nullptr : &*found;
}

Result<std::vector<std::byte>> ReadState(const std::string& checkpoint, const ManifestRank& rank) {
  const std::string path = JoinPath(checkpoint, rank.file);
  LW_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadAll(path));
  const Result<RankFile> file = DecodeRankFile(bytes);
  if (!file.ok()) return file.status().WithContext(path);
  return std::vector<std::byte>(file->state.begin(), file->state.end());
}

}  // namespace

Result<std::vector<TableDiff>> DiffCheckpoints(const std::string& a, const std::string& b) {
  LW_ASSIGN_OR_RETURN(const Manifest left, OpenManifest(a));
  LW_ASSIGN_OR_RETURN(const Manifest right, OpenManifest(b));
  std::vector<TableDiff> diffs;
  for (const ManifestTable& table : left.tables) {
    TableDiff& diff = diffs.emplace_back();
    diff.name = table.spec.name;
    diff.elements = table.spec.elements();
    LW_ASSIGN_OR_RETURN(const LoadedTable mine, Load(a, left, table));
    diff.a = mine.side;
    const ManifestTable* other = Find(right, table.spec.name);
    if (other == nullptr) continue;
    LW_ASSIGN_OR_RETURN(const LoadedTable theirs, Load(b, right, *other));
    diff.b = theirs.side;
    diff.same_shape = other->spec.shape == table.spec.shape;
    if (diff.same_shape) Compare(mine.values, theirs.values, diff);
  }
  for (const ManifestTable& table : right.tables) {
    if (Find(left, table.spec.name) != nullptr) continue;
    TableDiff& diff = diffs.emplace_back();
    diff.name = table.spec.name;
    diff.elements = table.spec.elements();
    LW_ASSIGN_OR_RETURN(const LoadedTable theirs, Load(b, right, table));
    diff.b = theirs.side;
  }
  return diffs;
}

Result<std::vector<RankDiff>> DiffRanks(const std::string& a, const std::string& b) {
  LW_ASSIGN_OR_RETURN(const Manifest left, OpenManifest(a));
  LW_ASSIGN_OR_RETURN(const Manifest right, OpenManifest(b));
  std::map<WorkerId, std::pair<const ManifestRank*, const ManifestRank*>> ranks;
  for (const ManifestRank& rank : left.ranks) ranks[rank.rank].first = &rank;
  for (const ManifestRank& rank : right.ranks) ranks[rank.rank].second = &rank;
  std::vector<RankDiff> diffs;
  for (const auto& [rank, sides] : ranks) {
    RankDiff& diff = diffs.emplace_back();
    diff.rank = rank;
    std::vector<std::byte> mine, theirs;
    if (sides.first != nullptr) {
      LW_ASSIGN_OR_RETURN(mine, ReadState(a, *sides.first));
      diff.iteration_a = sides.first->iteration.value();
    }
    if (sides.second != nullptr) {
      LW_ASSIGN_OR_RETURN(theirs, ReadState(b, *sides.second));
      diff.iteration_b = sides.second->iteration.value();
    }
    diff.bytes_a = mine.size();
    diff.bytes_b = theirs.size();
    diff.same = diff.iteration_a && diff.iteration_b && mine == theirs;
  }
  return diffs;
}

}  // namespace leeway::app
