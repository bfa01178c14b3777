// eps: Elastic Parameter Slicing (FluentPS, III-A). It gives the parameters new keys so that all key ranges
// have equal bytes, and evens them out again when the number of servers changes.
//
// Place cuts the blocks, in their order, into one run per shard, so that no other cuts give the heaviest run
// fewer bytes. The unit is the block: the heaviest run has less than an even share plus one block, and at
// least the largest block. For a load as even as in the paper, which cuts anywhere, set a smaller
// block_bytes. Place cuts each round of tables by itself. The shard of the first run is one further for every
// earlier block, so that tables which come one by one do not all land on one shard.
//
// Rebalance leaves shards that differ by at most the largest block. It moves at most the lower bound for an
// even load, plus less than one block for each shard above an even share. The lower bound is all bytes of
// shards that went, and the bytes of every other shard above an even share. Rebalance does not keep runs.
#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/policy_config.h"
#include "leeway/placement.h"

namespace leeway {
namespace {

// The offsets at which blocks begin, in bytes from the first; the last entry is the end.
using Edges = std::vector<std::uint64_t>;

// The furthest edge that is at most `bytes` after edge `from`.
std::size_t Reach(const Edges& edges, std::size_t from, std::uint64_t bytes) {
  const auto begin = edges.begin() + static_cast<std::ptrdiff_t>(from);
  return static_cast<std::size_t>(std::upper_bound(begin, edges.end(), edges[from] + bytes) - edges.begin()) -
         1;
}

std::size_t Nearest(const Edges& edges, std::uint64_t bytes) {
  const auto above = static_cast<std::size_t>(std::ranges::lower_bound(edges, bytes) - edges.begin());
  return above > 0 && bytes - edges[above - 1] < edges[above] - bytes ? above - 1 : above;
}

// The fewest bytes that the heaviest of so many runs can have.
std::uint64_t LeastHeaviest(const Edges& edges, std::size_t runs) {
  std::uint64_t low = (edges.back() + runs - 1) / runs;
  std::uint64_t high = edges.back();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::size_t at = 0;
    for (std::size_t run = 0; run < runs; ++run) at = Reach(edges, at, middle);
    if (at + 1 == edges.size()) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The edge at which each run ends. If every run filled up to the heaviest, the last ones would stay empty. So
// each run ends at the edge nearest to an even share of the rest, among the edges that leave enough room for
// the later runs.
std::vector<std::size_t> EvenRuns(const Edges& edges, std::size_t runs) {
  const std::uint64_t heaviest = LeastHeaviest(edges, runs);
  std::vector<std::size_t> rest{edges.size() - 1};  // rest[n]: from this edge on, n runs have room for all
  while (rest.size() < runs) {
    const std::uint64_t end = edges[rest.back()];
    const auto first = std::ranges::lower_bound(edges, end - std::min(end, heaviest));
    rest.push_back(static_cast<std::size_t>(first - edges.begin()));
  }
  std::vector<std::size_t> ends;
  std::size_t at = 0;
  for (std::size_t left = runs; left > 0; --left) {
    const std::uint64_t even = edges[at] + (edges.back() - edges[at]) / left;
    at = std::clamp(Nearest(edges, even), rest[left - 1], Reach(edges, at, heaviest));
    ends.push_back(at);
  }
  return ends;
}

// The bytes of each shard, and the least loaded shard (the first of several).
class Loads {
 public:
  explicit Loads(std::size_t shards) : bytes_(shards) {
    for (std::size_t s = 0; s < shards; ++s) by_bytes_.emplace(0, s);
  }
  [[nodiscard]] std::uint64_t Of(std::size_t shard) const { return bytes_[shard]; }
  [[nodiscard]] std::size_t LeastLoaded() const { return by_bytes_.begin()->second; }
  void Add(std::size_t shard, std::uint64_t bytes) { Set(shard, bytes_[shard] + bytes); }
  void Remove(std::size_t shard, std::uint64_t bytes) { Set(shard, bytes_[shard] - bytes); }

 private:
  void Set(std::size_t shard, std::uint64_t bytes) {
    by_bytes_.erase({bytes_[shard], shard});
    bytes_[shard] = bytes;
    by_bytes_.emplace(bytes, shard);
  }
  std::vector<std::uint64_t> bytes_;
  std::set<std::pair<std::uint64_t, std::size_t>> by_bytes_;
};

std::vector<std::size_t> LargestFirst(std::span<const PlacedBlock> blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t b) { return blocks[b].bytes; });
  return order;
}

class Eps final : public Placement {
 public:
  std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                             std::span<const PlacedShard> shards) const override {
    const std::uint64_t before = BlocksOwned(shards);
    Edges edges{0};
    for (const PlacedBlock& block : blocks) edges.push_back(edges.back() + block.bytes);
    const std::vector<std::size_t> ends = EvenRuns(edges, shards.size());
    std::vector<ShardId> placed;
    placed.reserve(blocks.size());
    for (std::size_t run = 0; run < ends.size(); ++run) {
      placed.resize(ends[run], shards[(before + run) % shards.size()].shard);
    }
    return placed;
  }

  std::vector<ShardId> Rebalance(std::span<const PlacedBlock> blocks, std::span<const ShardId> owners,
                                 std::span<const PlacedShard> shards) const override {
    std::map<ShardId, std::size_t> index;
    for (std::size_t s = 0; s < shards.size(); ++s) index[shards[s].shard] = s;
    Loads loads(shards.size());
    std::uint64_t total = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      total += blocks[b].bytes;
      if (const auto at = index.find(owners[b]); at != index.end()) loads.Add(at->second, blocks[b].bytes);
    }
    const std::uint64_t share = total / shards.size();
    const std::uint64_t share_up = share + (total % shards.size() == 0 ? 0 : 1);

    // Each shard gives up, largest first, every block without which it still has an even share.
    std::vector<std::size_t> homeless;
    std::vector<std::size_t> smallest_kept(shards.size());
    for (const std::size_t b : LargestFirst(blocks)) {
      const auto at = index.find(owners[b]);
      if (at == index.end()) {
        homeless.push_back(b);
      } else if (loads.Of(at->second) >= share_up + blocks[b].bytes) {
        loads.Remove(at->second, blocks[b].bytes);
        homeless.push_back(b);
      } else {
        smallest_kept[at->second] = b;
      }
    }
    std::vector<std::size_t> above;
    for (std::size_t s = 0; s < shards.size(); ++s) {
      if (loads.Of(s) > share) above.push_back(s);
    }

    // The least loaded shard takes the next block. The least load does not fall from here on, so a shard that
    // takes a block ends above no other by more than that block.
    std::vector<ShardId> now(owners.begin(), owners.end());
    const auto take = [&](std::size_t b) {
      const std::size_t s = loads.LeastLoaded();
      loads.Add(s, blocks[b].bytes);
      now[b] = shards[s].shard;
    };
    for (const std::size_t b : homeless) take(b);

    // A shard still above an even share is above by less than any block it kept. It gives one more block if
    // it then stays above the least loaded shard. Otherwise it exceeds no shard by more than that block.
    for (const std::size_t s : above) {
      const std::size_t b = smallest_kept[s];
      if (loads.Of(s) - blocks[b].bytes <= loads.Of(loads.LeastLoaded())) continue;
      loads.Remove(s, blocks[b].bytes);
      take(b);
    }
    return now;
  }
};

}  // namespace

Result<PlacementPtr> MakeEps(const PolicyConfig&) { return PlacementPtr(std::make_unique<Eps>()); }

}  // namespace leeway
