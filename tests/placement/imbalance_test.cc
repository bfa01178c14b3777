// How even placements are on models that people train: the bytes of the heaviest server over the mean. The
// layer lists of src/problem/models are cut and placed by the scheduler's own TableRegistry, one shard per
// server, all tables in one round. Each test prints its table, and every row of it must be in
// docs/placements.md.
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "assembly/assembly.h"
#include "node/scheduler/table_registry.h"
#include "placement/placements.h"
#include "problem/layer_file.h"

namespace leeway {
namespace {

using problem::ParseLayers;
using Tensors = std::vector<problem::Table>;

constexpr double kEven = 1.05;

struct Model {
  std::string name;
  Tensors tensors;
};

Model OfFile(const problem::ModelFile& file) {
  Result<Tensors> tensors = ParseLayers(file.name, file.text);
  EXPECT_TRUE(tensors.ok()) << tensors.status().ToString();
  return {std::string(file.name), *std::move(tensors)};
}

Model Named(const std::string& name) {
  for (const problem::ModelFile& file : problem::ModelFiles()) {
    if (file.name == name) return OfFile(file);
  }
  ADD_FAILURE() << "no layer list " << name;
  return {};
}

// What `make train` trains: examples/fashion_mnist.py.
Model ExampleCnn() {
  Result<Tensors> tensors = ParseLayers("fashion_mnist.py",
                                        "0.weight 16x1x3x3\n0.bias 16\n3.weight 32x16x3x3\n3.bias 32\n"
                                        "7.weight 128x1568\n7.bias 128\n9.weight 10x128\n9.bias 10\n");
  EXPECT_TRUE(tensors.ok()) << tensors.status().ToString();
  return {"fashion_mnist.py", *std::move(tensors)};
}

// All blocks of a model, and their owners, as a scheduler with these options has them.
struct Spread {
  std::vector<PlacedBlock> blocks;
  std::vector<ShardId> owners;
  std::vector<double> server_bytes;

  [[nodiscard]] double Imbalance() const {
    const double mean = std::accumulate(server_bytes.begin(), server_bytes.end(), 0.0) /
                        static_cast<double>(server_bytes.size());
    return *std::ranges::max_element(server_bytes) / mean;
  }
};

Spread SpreadOver(const Model& model, const JobOptions& job) {
  wire::pb::DefineTables request;
  for (const problem::Table& tensor : model.tensors) {
    wire::pb::Table& table = *request.add_tables();
    table.set_name(tensor.name);
    table.mutable_shape()->Assign(tensor.shape.begin(), tensor.shape.end());
    table.set_dtype(1);
  }
  const Policies policies = Policies::Builtin();
  TableRegistry registry(
      job, SchedulerPolicies{policies.sync, policies.optimizers, policies.placements, policies.exchanges});
  const Status checked = registry.Check();
  EXPECT_TRUE(checked.ok()) << checked.ToString();
  const Result<TableRegistry::Defined> defined = registry.Define(request, Epoch(2));
  EXPECT_TRUE(defined.ok()) << defined.status().ToString();
  Spread spread;
  spread.server_bytes.resize(job.servers);
  for (const TableRegistry::Entry& entry : registry.all()) {
    for (const wire::pb::Block& block : entry.map.blocks()) {
      const std::uint64_t bytes = block.elements() * sizeof(float);
      spread.blocks.push_back({BlockId(block.block()), TableId(entry.map.id()), bytes});
      spread.owners.emplace_back(block.shard());
      spread.server_bytes[block.shard()] += static_cast<double>(bytes);
    }
  }
  return spread;
}

JobOptions JobOf(std::uint32_t servers) {
  JobOptions job;
  job.servers = servers;
  return job;
}

JobOptions JobOf(std::uint32_t servers, const std::string& placement, std::uint32_t block_bytes) {
  JobOptions job = JobOf(servers);
  job.placement = placement;
  job.block_bytes = block_bytes;
  return job;
}

std::vector<PlacedShard> OneShardEach(std::uint32_t servers) {
  std::vector<PlacedShard> shards;
  for (std::uint32_t s = 0; s < servers; ++s) shards.push_back({ShardId(s), ServerId(s)});
  return shards;
}

// Prints the table, and wants each of its lines in the page.
void ExpectDocumented(const std::string& head, const std::vector<std::string>& rows) {
  fmt::print("{}\n{}\n", head, fmt::join(rows, "\n"));
  std::ifstream file(LEEWAY_DOCS "/placements.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(page.empty()) << LEEWAY_DOCS "/placements.md cannot be read";
  EXPECT_THAT(page, testing::HasSubstr("\n" + head + "\n"));
  for (const std::string& row : rows) EXPECT_THAT(page, testing::HasSubstr("\n" + row + "\n"));
}

// By default, and with what the default was.
std::string DefaultRow(const Model& model) {
  std::vector<std::string> by_servers;
  double bytes = 0;
  for (std::uint32_t servers = 2; servers <= 8; ++servers) {
    const Spread spread = SpreadOver(model, JobOf(servers));
    by_servers.push_back(fmt::format("{:.2f}", spread.Imbalance()));
    bytes = std::accumulate(spread.server_bytes.begin(), spread.server_bytes.end(), 0.0);
  }
  return fmt::format("| {} | {:.1f} MB | {} | {:.2f} | {:.2f} |", model.name, bytes * 1e-6,
                     fmt::join(by_servers, " | "),
                     SpreadOver(model, JobOf(2, "round_robin", 4U << 20)).Imbalance(),
                     SpreadOver(model, JobOf(8, "round_robin", 4U << 20)).Imbalance());
}

TEST(ImbalanceTest, OfAllLayerListsByDefaultIsAsDocumented) {
  std::vector<std::string> rows;
  for (const problem::ModelFile& file : problem::ModelFiles()) rows.push_back(DefaultRow(OfFile(file)));
  rows.push_back(DefaultRow(ExampleCnn()));
  ExpectDocumented(
      "| model | size | 2 servers | 3 | 4 | 5 | 6 | 7 | 8 | round robin, 4 MiB: 2 | round robin, 4 MiB: 8 |",
      rows);
}

TEST(ImbalanceTest, EveryLayerListIsEvenByDefault) {
  for (const problem::ModelFile& file : problem::ModelFiles()) {
    for (const std::uint32_t servers : {2U, 3U, 4U, 8U}) {
      EXPECT_LE(SpreadOver(OfFile(file), JobOf(servers)).Imbalance(), kEven)
          << file.name << " on " << servers << " servers";
    }
  }
  // Eight shares of it are smaller than two blocks of 64 KiB, so that only fewer servers are even.
  for (const std::uint32_t servers : {2U, 3U, 4U}) {
    EXPECT_LE(SpreadOver(ExampleCnn(), JobOf(servers)).Imbalance(), kEven)
        << "fashion_mnist.py on " << servers << " servers";
  }
}

std::string ComparedRow(const std::string& name, std::uint32_t servers, std::uint32_t block_kib) {
  const Model model = Named(name);
  const auto imbalance = [&](const std::string& placement) {
    return SpreadOver(model, JobOf(servers, placement, block_kib << 10)).Imbalance();
  };
  return fmt::format("| {} | {} | {} KiB | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |", name, servers,
                     block_kib, SpreadOver(model, JobOf(servers, "lpt", block_kib << 10)).blocks.size(),
                     imbalance("lpt"), imbalance("eps"), imbalance("round_robin"), imbalance("range"));
}

TEST(ImbalanceTest, OfAllPlacementsIsAsDocumented) {
  constexpr std::uint32_t kSizesKib[] = {4096, 1024, 256, 64};
  std::vector<std::string> rows;
  for (const std::uint32_t kib : kSizesKib) rows.push_back(ComparedRow("resnet56", 8, kib));
  for (const std::uint32_t servers : {8U, 64U}) {
    for (const std::uint32_t kib : kSizesKib) rows.push_back(ComparedRow("resnet50", servers, kib));
  }
  for (const std::uint32_t kib : kSizesKib) rows.push_back(ComparedRow("alexnet", 8, kib));
  ExpectDocumented("| model | servers | block_bytes | blocks | lpt | eps | round_robin | range |", rows);
}

// Of ResNet-50 in blocks of 1 MiB on 8 servers: what must move to an even load, what eps moves, what a
// placement anew would move, in percent of all bytes; and how even it is then.
std::string MoveRow(std::uint32_t servers) {
  const Model model = Named("resnet50");
  const Spread from = SpreadOver(model, JobOf(8, "eps", 1U << 20));
  const Spread anew = SpreadOver(model, JobOf(servers, "eps", 1U << 20));
  const Registry<Placement> placements = BuiltinPlacements();
  const auto eps = placements.MakeFromSpec("eps");
  EXPECT_TRUE(eps.ok()) << eps.status().ToString();
  Spread to = from;
  to.owners = (*eps)->Rebalance(from.blocks, from.owners, OneShardEach(servers));
  to.server_bytes.assign(servers, 0);
  double total = 0, moved = 0, moved_anew = 0, least = 0;
  for (std::size_t b = 0; b < from.blocks.size(); ++b) {
    const auto bytes = static_cast<double>(from.blocks[b].bytes);
    total += bytes;
    to.server_bytes[to.owners[b].index()] += bytes;
    if (to.owners[b] != from.owners[b]) moved += bytes;
    if (anew.owners[b] != from.owners[b]) moved_anew += bytes;
  }
  for (std::size_t s = 0; s < from.server_bytes.size(); ++s) {
    least += s < servers ? std::max(0.0, from.server_bytes[s] - total / servers) : from.server_bytes[s];
  }
  return fmt::format("| 8 to {} | {:.1f} % | {:.1f} % | {:.1f} % | {:.2f} |", servers, 100 * least / total,
                     100 * moved / total, 100 * moved_anew / total, to.Imbalance());
}

TEST(ImbalanceTest, WhatARebalanceMovesIsAsDocumented) {
  std::vector<std::string> rows;
  for (const std::uint32_t servers : {7U, 9U, 16U}) rows.push_back(MoveRow(servers));
  ExpectDocumented("| servers | the least | Rebalance | placed anew | imbalance |", rows);
}

}  // namespace
}  // namespace leeway
