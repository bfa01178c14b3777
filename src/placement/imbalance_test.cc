// How even placements are on models that people train: the bytes of the heaviest server over the mean. The
// table that this prints and wants is the one in docs/placements.md.
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "placement/placements.h"

namespace leeway {
namespace {

// The elements of each table, in the order in which PyTorch names them.
using Tables = std::vector<std::uint64_t>;

void AddConvolution(Tables& tables, std::uint64_t in, std::uint64_t out, std::uint64_t kernel) {
  tables.insert(tables.end(), {in * out * kernel * kernel, out, out});  // and its batch norm
}

// For CIFAR-10, shortcuts without parameters (He et al. 2015): 0.85 million.
Tables ResNet56() {
  Tables tables;
  AddConvolution(tables, 3, 16, 3);
  std::uint64_t in = 16;
  for (const std::uint64_t width : {16U, 32U, 64U}) {
    for (int block = 0; block < 9; ++block) {
      AddConvolution(tables, in, width, 3);
      AddConvolution(tables, width, width, 3);
      in = width;
    }
  }
  tables.insert(tables.end(), {64 * 10, 10});
  return tables;
}

// As torchvision has it: 25.6 million.
Tables ResNet50() {
  Tables tables;
  AddConvolution(tables, 3, 64, 7);
  std::uint64_t in = 64;
  struct Stage {
    std::uint64_t width;
    int blocks;
  };
  for (const auto& [width, blocks] : {Stage{64, 3}, Stage{128, 4}, Stage{256, 6}, Stage{512, 3}}) {
    for (int block = 0; block < blocks; ++block) {
      AddConvolution(tables, in, width, 1);
      AddConvolution(tables, width, width, 3);
      AddConvolution(tables, width, 4 * width, 1);
      if (block == 0) AddConvolution(tables, in, 4 * width, 1);
      in = 4 * width;
    }
  }
  tables.insert(tables.end(), {2048 * 1000, 1000});
  return tables;
}

// As torchvision has it, for ImageNet: 61.1 million.
Tables AlexNet() {
  return {3 * 64 * 121,  64,  64 * 192 * 25, 192,  192 * 384 * 9, 384,  384 * 256 * 9, 256,
          256 * 256 * 9, 256, 9216 * 4096,   4096, 4096 * 4096,   4096, 4096 * 1000,   1000};
}

// As the scheduler cuts them.
std::vector<PlacedBlock> CutTables(const Tables& tables, std::uint64_t block_bytes) {
  std::vector<PlacedBlock> blocks;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    for (std::uint64_t left = tables[t] * sizeof(float); left > 0;) {
      const std::uint64_t bytes = std::min(left, block_bytes);
      blocks.push_back({BlockId(static_cast<std::uint32_t>(blocks.size())),
                        TableId(static_cast<std::uint32_t>(t)), bytes});
      left -= bytes;
    }
  }
  return blocks;
}

std::vector<PlacedShard> OneShardEach(std::uint32_t servers) {
  std::vector<PlacedShard> shards;
  for (std::uint32_t s = 0; s < servers; ++s) shards.push_back({ShardId(s), ServerId(s)});
  return shards;
}

PlacementPtr MadePlacement(const std::string& spec) {
  auto placement = BuiltinPlacements().MakeFromSpec(spec);
  EXPECT_TRUE(placement.ok()) << placement.status().ToString();
  return *std::move(placement);
}

std::vector<double> ServerBytes(const std::vector<PlacedBlock>& blocks, const std::vector<ShardId>& placed,
                                std::uint32_t servers) {
  std::vector<double> bytes(servers);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    bytes[placed[b].index()] += static_cast<double>(blocks[b].bytes);
  }
  return bytes;
}

double HeaviestOverMean(const std::vector<double>& bytes) {
  return std::ranges::max(bytes) * static_cast<double>(bytes.size()) /
         std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

double Imbalance(const std::string& spec, const std::vector<PlacedBlock>& blocks, std::uint32_t servers) {
  const std::vector<ShardId> placed = MadePlacement(spec)->Place(blocks, OneShardEach(servers), 0);
  return HeaviestOverMean(ServerBytes(blocks, placed, servers));
}

std::string ImbalanceRow(const std::string& model, const Tables& tables, std::uint32_t servers,
                         std::uint32_t block_kib) {
  const std::vector<PlacedBlock> blocks = CutTables(tables, std::uint64_t{block_kib} << 10);
  return fmt::format("| {} | {} | {} KiB | {} | {:.2f} | {:.2f} | {:.2f} |", model, servers, block_kib,
                     blocks.size(), Imbalance("round_robin", blocks, servers),
                     Imbalance("range", blocks, servers), Imbalance("eps", blocks, servers));
}

TEST(ImbalanceTest, OfModelsIsAsDocumented) {
  std::vector<std::string> rows;
  for (const std::uint32_t kib : {4096U, 1024U, 256U, 64U}) {
    rows.push_back(ImbalanceRow("ResNet-56", ResNet56(), 8, kib));
  }
  for (const std::uint32_t servers : {8U, 64U}) {
    for (const std::uint32_t kib : {4096U, 1024U, 256U, 64U}) {
      rows.push_back(ImbalanceRow("ResNet-50", ResNet50(), servers, kib));
    }
  }
  for (const std::uint32_t kib : {4096U, 1024U, 256U, 64U}) {
    rows.push_back(ImbalanceRow("AlexNet", AlexNet(), 8, kib));
  }
  fmt::print("| model | servers | block_bytes | blocks | round_robin | range | eps |\n{}\n",
             fmt::join(rows, "\n"));
  EXPECT_THAT(rows, testing::ElementsAreArray({"| ResNet-56 | 8 | 4096 KiB | 167 | 1.26 | 2.43 | 1.05 |",
                                               "| ResNet-56 | 8 | 1024 KiB | 167 | 1.26 | 2.43 | 1.05 |",
                                               "| ResNet-56 | 8 | 256 KiB | 167 | 1.26 | 2.43 | 1.05 |",
                                               "| ResNet-56 | 8 | 64 KiB | 202 | 1.15 | 2.43 | 1.04 |",
                                               "| ResNet-50 | 8 | 4096 KiB | 169 | 1.47 | 3.44 | 1.07 |",
                                               "| ResNet-50 | 8 | 1024 KiB | 228 | 1.22 | 3.44 | 1.05 |",
                                               "| ResNet-50 | 8 | 256 KiB | 508 | 1.04 | 3.44 | 1.01 |",
                                               "| ResNet-50 | 8 | 64 KiB | 1667 | 1.02 | 3.44 | 1.00 |",
                                               "| ResNet-50 | 64 | 4096 KiB | 169 | 3.28 | 5.91 | 2.63 |",
                                               "| ResNet-50 | 64 | 1024 KiB | 228 | 1.97 | 5.91 | 1.31 |",
                                               "| ResNet-50 | 64 | 256 KiB | 508 | 1.31 | 5.91 | 1.15 |",
                                               "| ResNet-50 | 64 | 64 KiB | 1667 | 1.07 | 5.91 | 1.03 |",
                                               "| AlexNet | 8 | 4096 KiB | 69 | 1.14 | 4.94 | 1.10 |",
                                               "| AlexNet | 8 | 1024 KiB | 245 | 1.03 | 4.94 | 1.02 |",
                                               "| AlexNet | 8 | 256 KiB | 943 | 1.01 | 4.94 | 1.00 |",
                                               "| AlexNet | 8 | 64 KiB | 3738 | 1.00 | 4.94 | 1.00 |"}));
}

// Of ResNet-50 in blocks of 1 MiB on 8 servers: what must move to an even load, what eps moves, what a
// placement anew would move, in percent of all bytes; and how even it is then.
std::string MoveRow(std::uint32_t servers) {
  const std::vector<PlacedBlock> blocks = CutTables(ResNet50(), 1U << 20);
  const PlacementPtr eps = MadePlacement("eps");
  const std::vector<ShardId> from = eps->Place(blocks, OneShardEach(8), 0);
  const std::vector<ShardId> to = eps->Rebalance(blocks, from, OneShardEach(servers));
  const std::vector<ShardId> anew = eps->Place(blocks, OneShardEach(servers), 0);
  double total = 0, moved = 0, moved_anew = 0, least = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto bytes = static_cast<double>(blocks[b].bytes);
    total += bytes;
    if (to[b] != from[b]) moved += bytes;
    if (anew[b] != from[b]) moved_anew += bytes;
  }
  const std::vector<double> before = ServerBytes(blocks, from, 8);
  for (std::size_t s = 0; s < before.size(); ++s) {
    least += s < servers ? std::max(0.0, before[s] - total / servers) : before[s];
  }
  return fmt::format("| 8 to {} | {:.1f} % | {:.1f} % | {:.1f} % | {:.2f} |", servers, 100 * least / total,
                     100 * moved / total, 100 * moved_anew / total,
                     HeaviestOverMean(ServerBytes(blocks, to, servers)));
}

TEST(ImbalanceTest, WhatARebalanceMovesIsAsDocumented) {
  std::vector<std::string> rows;
  for (const std::uint32_t servers : {7U, 9U, 16U}) rows.push_back(MoveRow(servers));
  fmt::print("| servers | the least | Rebalance | placed anew | imbalance |\n{}\n", fmt::join(rows, "\n"));
  EXPECT_THAT(rows, testing::ElementsAreArray({"| 8 to 7 | 12.1 % | 12.1 % | 44.2 % | 1.01 |",
                                               "| 8 to 9 | 11.1 % | 11.1 % | 58.6 % | 1.02 |",
                                               "| 8 to 16 | 50.0 % | 50.7 % | 93.8 % | 1.05 |"}));
}

}  // namespace
}  // namespace leeway
