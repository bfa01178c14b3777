// range: the key ranges of PS-Lite, with their skew, for comparison.
//
// PS-Lite cuts the space of 64-bit keys into as many equal ranges as there are servers. A server owns the
// keys in its range, whatever the size of their values. FluentPS (III-A) says of it that "it puts most
// parameters on one key range of a server". The skew depends on the keys that an application chooses, so this
// is a model of one: each table is one key, never cut, and the keys of a round of tables lie evenly over the
// key space in the order of creation. So table t of n goes to server t * servers / n. Every server has the
// same number of tables, in a row, and the server with the largest layers has most of the bytes (of 8 servers
// one has 62 % of AlexNet). `raw_keys` has the plain keys 0, 1, 2, ..., which are all in the first range.
//
// PS-Lite has no shards; here the shards of a server get the blocks of its tables in turn.
//
// Tables of a later round form a key space of their own: they spread over all servers again, and a table that
// comes by itself goes to the first server.
#include <cstddef>
#include <map>
#include <utility>

#include "base/policy_config.h"
#include "leeway/placement.h"

namespace leeway {
namespace {

class Range final : public Placement {
 public:
  std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                             std::span<const PlacedShard> shards) const override {
    const std::uint64_t before = BlocksOwned(shards);
    std::vector<std::size_t> table_of;  // the position of each block's table in this round
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool next = i > 0 && blocks[i].table != blocks[i - 1].table;
      table_of.push_back(i == 0 ? 0 : table_of.back() + (next ? 1 : 0));
    }
    const std::vector<std::vector<ShardId>> servers = ByServer(shards);
    std::vector<ShardId> placed;
    placed.reserve(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::vector<ShardId>& owners = servers[table_of[i] * servers.size() / (table_of.back() + 1)];
      placed.push_back(owners[(before + i) % owners.size()]);
    }
    return placed;
  }

 private:
  static std::vector<std::vector<ShardId>> ByServer(std::span<const PlacedShard> shards) {
    std::map<ServerId, std::vector<ShardId>> by_server;
    for (const PlacedShard& shard : shards) by_server[shard.server].push_back(shard.shard);
    std::vector<std::vector<ShardId>> servers;
    servers.reserve(by_server.size());
    for (auto& [server, its] : by_server) servers.push_back(std::move(its));
    return servers;
  }
};

}  // namespace

Result<PlacementPtr> MakeRange(const PolicyConfig&) { return PlacementPtr(std::make_unique<Range>()); }

}  // namespace leeway
