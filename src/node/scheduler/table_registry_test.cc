#include "node/scheduler/table_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exchange/exchanges.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TableRegistryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    job.servers = 2;
    job.shards = 2;
    job.block_bytes = 64;  // 16 elements
  }
  TableRegistry& registry() {
    if (made == nullptr) {
      made = std::make_unique<TableRegistry>(job, SchedulerPolicies{sync, optimizers, placements, exchanges});
      const Status checked = made->Check();
      EXPECT_TRUE(checked.ok()) << checked.ToString();
    }
    return *made;
  }
  static wire::pb::Table Table(const std::string& name, const std::vector<std::int64_t>& shape) {
    wire::pb::Table table;
    table.set_name(name);
    table.mutable_shape()->Assign(shape.begin(), shape.end());
    table.set_dtype(1);
    return table;
  }
  Result<TableRegistry::Defined> Define(const std::vector<wire::pb::Table>& tables, std::uint64_t epoch = 2) {
    wire::pb::DefineTables request;
    for (const auto& table : tables) *request.add_tables() = table;
    return registry().Define(request, Epoch(epoch));
  }

  JobOptions job;
  Registry<SyncModel> sync = BuiltinSyncModels();
  Registry<Optimizer> optimizers = BuiltinOptimizers();
  Registry<Placement> placements = BuiltinPlacements();
  Registry<ExchangePolicy> exchanges = BuiltinExchanges();
  std::unique_ptr<TableRegistry> made;
};

TEST_F(TableRegistryTest, CutsATableIntoBlocksAndSpreadsThem) {
  ASSERT_TRUE(Define({Table("w", {10, 7})}).ok());
  const wire::pb::Table& map = registry().all()[0].map;
  ASSERT_EQ(map.blocks_size(), 5);
  std::uint64_t offset = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(map.blocks(i).block(), static_cast<std::uint32_t>(i));
    EXPECT_EQ(map.blocks(i).offset(), offset);
    EXPECT_EQ(map.blocks(i).elements(), i < 4 ? 16U : 6U);
    EXPECT_EQ(map.blocks(i).term(), 1U);
    offset += map.blocks(i).elements();
  }
  EXPECT_EQ(offset, 70U);
}

// The elements of the blocks of a table.
std::vector<std::uint64_t> BlocksOf(const TableRegistry::Entry& entry) {
  std::vector<std::uint64_t> elements;
  for (const wire::pb::Block& block : entry.map.blocks()) elements.push_back(block.elements());
  return elements;
}

TEST_F(TableRegistryTest, ByNeedBlocksAreAnEighthOfAnEvenShare) {
  job.block_bytes = 0;
  constexpr std::int64_t kMiValues = 1 << 20;
  // 64 MiB on 4 shards: 16 MiB each, in blocks of 2 MiB.
  ASSERT_TRUE(Define({Table("w", {15 * kMiValues}), Table("v", {kMiValues})}).ok());
  EXPECT_EQ(registry().all()[0].map.blocks_size(), 30);
  EXPECT_THAT(BlocksOf(registry().all()[1]), ElementsAre(kMiValues / 2, kMiValues / 2));
}

TEST_F(TableRegistryTest, ByNeedTheModelIsWhatIsThereAndWhatComes) {
  job.block_bytes = 0;
  constexpr std::int64_t kMiValues = 1 << 20;
  ASSERT_TRUE(Define({Table("first", {kMiValues})}).ok());
  EXPECT_EQ(registry().all()[0].map.blocks_size(), 32) << "4 MiB on 4 shards: 128 KiB";
  ASSERT_TRUE(Define({Table("second", {7 * kMiValues})}, 3).ok());
  EXPECT_EQ(registry().all()[0].map.blocks_size(), 32) << "it was cut once";
  EXPECT_EQ(registry().all()[1].map.blocks_size(), 28) << "32 MiB on 4 shards: 1 MiB";
}

TEST_F(TableRegistryTest, ByNeedATableIsOneBlockIfItsOptimizerNeedsAllOfIt) {
  job.block_bytes = 0;
  wire::pb::Table whole = Table("w", {1 << 20});
  whole.set_optimizer("lars");
  ASSERT_TRUE(Define({whole, Table("v", {1 << 20})}).ok());
  EXPECT_EQ(registry().all()[0].map.blocks_size(), 1);
  EXPECT_EQ(registry().all()[1].map.blocks_size(), 16) << "8 MiB on 4 shards: 256 KiB";
}

TEST_F(TableRegistryTest, ByNeedABlockFitsAFrame) {
  job.block_bytes = 0;
  made =
      std::make_unique<TableRegistry>(job, SchedulerPolicies{sync, optimizers, placements, exchanges}, 4096);
  ASSERT_TRUE(made->Check().ok());
  ASSERT_TRUE(Define({Table("w", {4096})}).ok());
  EXPECT_THAT(BlocksOf(registry().all()[0]), ElementsAre(1024, 1024, 1024, 1024));
}

TEST_F(TableRegistryTest, LaterTablesGoOnTopOfTheLoadThatIsThere) {
  ASSERT_TRUE(
      Define({Table("small", {1}), Table("large", {16}), Table("middle", {8}), Table("fourth", {4})}).ok());
  const std::uint32_t lightest = registry().all()[0].map.blocks(0).shard();
  ASSERT_TRUE(Define({Table("next", {9})}, 3).ok());
  EXPECT_EQ(registry().all()[4].map.blocks(0).shard(), lightest);
  registry().Withdraw(4);
  ASSERT_TRUE(Define({Table("again", {9})}, 4).ok());
  EXPECT_EQ(registry().all()[4].map.blocks(0).shard(), lightest) << "what was withdrawn is no load";
}

TEST_F(TableRegistryTest, ATableWhoseOptimizerNeedsAllOfItIsOneBlock) {
  wire::pb::Table whole = Table("w", {10, 7}), excluded = Table("b", {70});
  whole.set_optimizer("lars:trust=0.01");
  excluded.set_optimizer("lars:excluded=1");
  ASSERT_TRUE(Define({whole, excluded, Table("next", {1})}).ok());
  const wire::pb::Table& map = registry().all()[0].map;
  ASSERT_EQ(map.blocks_size(), 1);
  EXPECT_EQ(map.blocks(0).offset(), 0U);
  EXPECT_EQ(map.blocks(0).elements(), 70U);
  EXPECT_EQ(registry().all()[1].map.blocks_size(), 5) << "it needs no norms";
  EXPECT_EQ(registry().all()[2].map.blocks(0).block(), 6U);
}

TEST_F(TableRegistryTest, ATableThatIsTooLargeForOneBlockIsRefusedIfItMustBeOne) {
  made =
      std::make_unique<TableRegistry>(job, SchedulerPolicies{sync, optimizers, placements, exchanges}, 280);
  ASSERT_TRUE(made->Check().ok());
  wire::pb::Table fits = Table("fits", {10, 7}), large = Table("large", {71});
  fits.set_optimizer("lars");
  large.set_optimizer("lars");
  EXPECT_TRUE(Define({fits}).ok());
  const Status refused = Define({large}).status();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.ToString(),
              HasSubstr("table \"large\": shape [71]: got 71 values, wanted at most 70 (280 "
                        "bytes, what a frame can carry): optimizer \"lars\""));
  EXPECT_EQ(registry().all().size(), 1U);
  EXPECT_TRUE(Define({Table("large", {71})}).ok()) << "others are cut";
}

TEST_F(TableRegistryTest, LaterTablesGoOnWhereTheFirstStopped) {
  ASSERT_TRUE(Define({Table("a", {16})}).ok());
  ASSERT_TRUE(Define({Table("b", {16})}, 3).ok());
  EXPECT_EQ(registry().all()[1].map.blocks(0).block(), 1U);
  EXPECT_NE(registry().all()[1].map.blocks(0).shard(), registry().all()[0].map.blocks(0).shard());
  EXPECT_EQ(registry().all()[1].created, Epoch(3));
}

TEST_F(TableRegistryTest, APlacementSeesAllTablesOfTheRequest) {
  const auto shards = [&](const std::string& placement) {
    made = nullptr;
    job.placement = placement;
    EXPECT_TRUE(Define({Table("a", {16}), Table("b", {16}), Table("c", {96})}).ok());
    std::vector<std::uint32_t> all;
    for (const TableRegistry::Entry& entry : registry().all()) {
      for (const wire::pb::Block& block : entry.map.blocks()) all.push_back(block.shard());
    }
    return all;
  };
  EXPECT_THAT(shards("lpt"), ElementsAre(0, 2, 1, 3, 0, 2, 1, 3)) << "servers take turns";
  EXPECT_THAT(shards("round_robin"), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(shards("range"), ElementsAre(0, 1, 2, 3, 2, 3, 2, 3)) << "two tables of three on server 0";
  EXPECT_THAT(shards("eps"), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

TEST_F(TableRegistryTest, FillsInTheJobsDefaults) {
  job.sync = "ssp:2";
  job.apply = "immediate";
  wire::pb::Table own = Table("own", {1});
  own.set_sync("bsp");
  ASSERT_TRUE(Define({Table("w", {1}), own}).ok());
  EXPECT_EQ(registry().all()[0].map.sync(), "ssp:2");
  EXPECT_EQ(registry().all()[0].map.apply(), "immediate");
  EXPECT_EQ(registry().all()[0].map.optimizer(), "sgd");
  EXPECT_EQ(registry().all()[1].map.sync(), "bsp");
  EXPECT_EQ(registry().all()[1].map.apply(), "") << "the default of its own model";
}

TEST_F(TableRegistryTest, TheSameDefinitionIsAnsweredLikeTheFirst) {
  ASSERT_TRUE(Define({Table("w", {4})}, 2).ok());
  const auto again = Define({Table("w", {4})}, 9);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->asked, std::vector{TableId(0)});
  EXPECT_TRUE(again->created.empty());
  EXPECT_EQ(again->epoch, Epoch(2)) << "in force since";
}

TEST_F(TableRegistryTest, ADifferentDefinitionIsRefusedAndSaysWhatDiffers) {
  ASSERT_TRUE(Define({Table("w", {4})}).ok());
  const Status shape = Define({Table("w", {2, 2})}).status();
  EXPECT_EQ(shape.code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(shape.message(),
            "table \"w\" is defined already, and differently: shape: got [2, 2], wanted [4]");
  wire::pb::Table other = Table("w", {4});
  other.set_optimizer("adam");
  EXPECT_THAT(Define({other}).status().message(), HasSubstr("optimizer: got \"adam\", wanted \"sgd\""));
  other = Table("w", {4});
  other.set_clock(1);
  EXPECT_THAT(Define({other}).status().message(), HasSubstr("clock: got 1, wanted 0"));
  EXPECT_THAT(Define({Table("v", {1}), Table("v", {2})}).status().message(),
              HasSubstr("shape: got [2], wanted [1]"));
}

TEST_F(TableRegistryTest, SpecsThatMeanTheSameAreTheSameHoweverWritten) {
  const auto with = [](const std::string& name, const std::string& sync_spec, const std::string& apply) {
    wire::pb::Table table = Table(name, {4});
    table.set_sync(sync_spec);
    table.set_apply(apply);
    return table;
  };
  ASSERT_TRUE(Define({with("s", "ssp:2", "")}).ok());
  for (const char* same : {"ssp:s=2", "ssp:2,release=lazy", "ssp:release=lazy,s=2,scope=job"}) {
    const auto again = Define({with("s", same, "")});
    EXPECT_TRUE(again.ok()) << same << ": " << again.status().ToString();
  }
  EXPECT_THAT(Define({with("s", "ssp:3", "")}).status().message(), HasSubstr("sync: got \"ssp:s=3"));
  EXPECT_THAT(Define({with("s", "ssp:2,release=soft", "")}).status().message(), HasSubstr("sync: got"));

  ASSERT_TRUE(Define({with("b", "bsp", "")}).ok());
  EXPECT_TRUE(Define({with("b", "bsp:late=drop", "aggregate:window=2,reduce=arrival")}).ok());
  EXPECT_THAT(
      Define({with("b", "bsp", "aggregate:reduce=ordered")}).status().message(),
      HasSubstr("apply: got \"aggregate:reduce=ordered,window=2\", wanted \"aggregate:reduce=arrival"));
  EXPECT_THAT(Define({with("b", "bsp:late=apply", "")}).status().message(), HasSubstr("sync: got"));
}

TEST_F(TableRegistryTest, OneBadTableRefusesTheWholeRequest) {
  wire::pb::Table bad = Table("bad", {4});
  bad.set_sync("bpp");
  const Status refused = Define({Table("good", {4}), bad}).status();
  EXPECT_THAT(refused.message(), HasSubstr("table \"bad\": unknown sync model \"bpp\""));
  EXPECT_THAT(refused.message(), HasSubstr("did you mean \"bsp\"?"));
  EXPECT_TRUE(registry().all().empty());
  EXPECT_EQ(Define({Table("good", {4})})->created, std::vector{TableId(0)});
}

TEST_F(TableRegistryTest, ChecksNameShapeAndTypes) {
  EXPECT_EQ(Define({Table("", {4})}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(Define({Table("w", {4, 0})}).status().message(),
              HasSubstr("shape [4, 0]: got a dimension of 0"));
  EXPECT_THAT(Define({Table("w", {-3})}).status().message(), HasSubstr("a dimension of -3"));
  EXPECT_EQ(Define({Table("w", {1LL << 40, 1LL << 40})}).status().code(), StatusCode::kResourceExhausted);
  wire::pb::Table table = Table("w", {4});
  table.set_dtype(2);
  EXPECT_THAT(Define({table}).status().message(), HasSubstr("dtype 2, wanted 1"));
  table = Table("w", {4});
  table.set_nonfinite(2);
  EXPECT_FALSE(Define({table}).ok());
  table = Table("w", {4});
  table.set_apply("aggregate");
  table.set_sync("asp");
  EXPECT_FALSE(Define({table}).ok()) << "asp has no bounded lead";
}

TEST_F(TableRegistryTest, AScalarIsATableOfOneElement) {
  ASSERT_TRUE(Define({Table("s", {})}).ok());
  ASSERT_EQ(registry().all()[0].map.blocks_size(), 1);
  EXPECT_EQ(registry().all()[0].map.blocks(0).elements(), 1U);
}

TEST_F(TableRegistryTest, TooManyBlocksAreRefusedWithAdvice) {
  const Status refused = Define({Table("w", {16LL << 20})}).status();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("take a larger block_bytes (now 64)"));
}

TEST_F(TableRegistryTest, TheJobsOwnSpecsAreChecked) {
  const auto check = [this] {
    return TableRegistry(job, SchedulerPolicies{sync, optimizers, placements, exchanges}).Check();
  };
  EXPECT_TRUE(check().ok());
  job.placement = "round_robbin";
  EXPECT_THAT(check().message(), HasSubstr("did you mean \"round_robin\"?"));
  job.placement = "round_robin";
  job.sync = "ssp:x";
  EXPECT_THAT(check().message(), HasSubstr("sync and apply of the job"));
  job.sync = "bsp";
  job.block_bytes = 6;
  EXPECT_THAT(check().message(), HasSubstr("block_bytes: got 6"));
}

}  // namespace
}  // namespace leeway
