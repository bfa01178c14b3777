// HandFedBlocks: the blocks of a shard without its node. For the tests of parts that borrow them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/server/block_store.h"
#include "node/testing/fake_env.h"
#include "optimizer/optimizers.h"
#include "sync/sync_policy.h"

namespace leeway::testing {

class HandFedBlocks final : private BlockEvents {
 public:
  explicit HandFedBlocks(FakeEnv& world) : world_(world), pool(0, world.arena) {}

  // Table 0, named "w", of blocks 0, 1, ... which are all here.
  void Make(const std::string& sync_spec, std::uint32_t blocks, TableClock clock = TableClock::kJob,
            std::uint64_t elements = 2) {
    wire::pb::TableMap map;
    wire::pb::Table& table = *map.add_tables();
    table.set_name("w");
    table.set_dtype(1);
    table.set_sync(sync_spec);
    table.set_optimizer("sum");
    table.set_clock(static_cast<std::uint32_t>(clock));
    for (std::uint32_t i = 0; i < blocks; ++i) {
      wire::pb::Block& block = *table.add_blocks();
      block.set_block(i);
      block.set_offset(elements * i);
      block.set_elements(elements);
      block.set_term(1);
      block.set_since(1);
    }
    const auto taken = store.Take(map, {}, world_.clock.now);
    ASSERT_TRUE(taken.ok()) << taken.status().ToString();
    ASSERT_EQ(taken->created.size(), blocks);
  }
  [[nodiscard]] Block& At(std::uint32_t id) const { return *store.Find(BlockId(id)); }
  // Gives every block zeros, and takes what the blocks say about it.
  void Initialize() {
    for (const auto& block : store.all()) {
      BufferRef zeros = block->TakeFirst();
      std::ranges::fill(zeros->floats(), 0.0F);
      block->OnInit({WorkerId(0), Incarnation(1)}, block->term(), std::move(zeros), world_.clock.now);
    }
    said.clear();
  }
  [[nodiscard]] std::vector<float> Values(std::uint32_t id) const {
    const std::span<const float> values = At(id).values();
    return {values.begin(), values.end()};
  }

 private:
  void OnVerdict(BlockId block, Term, MemberKey to, Seq seq, Verdict verdict, Iteration) override {
    said.push_back(fmt::format("block {} to {}: push {} verdict {}", block.value(), to.worker.value(),
                               seq.value(), static_cast<int>(verdict)));
  }
  void OnAnswer(BlockId block, Term, MemberKey to, const BlockAnswer& answer) override {
    said.push_back(
        fmt::format("block {} to {}: version {}", block.value(), to.worker.value(), answer.version.value()));
  }
  void OnResumed(BlockId block, Term, MemberKey to, Seq last, Iteration) override {
    said.push_back(
        fmt::format("block {} to {}: resumed after {}", block.value(), to.worker.value(), last.value()));
  }
  void OnWakeAt(BlockId, TimePoint) override {}
  void OnReached(BlockId block) override { reached.push_back(block); }

  FakeEnv& world_;
  Registry<SyncModel> sync_ = BuiltinSyncModels();
  Registry<Optimizer> optimizers_ = BuiltinOptimizers();

 public:
  std::vector<std::string> said;
  std::vector<BlockId> reached;
  BufferPool pool;
  BlockStore store{sync_, optimizers_, pool, *this};
};

// Members 0 .. n - 1, all of their first life.
inline wire::pb::Roster RosterOf(std::uint64_t epoch, std::uint32_t n) {
  wire::pb::Roster roster;
  roster.set_epoch(epoch);
  for (std::uint32_t i = 0; i < n; ++i) {
    wire::pb::Member& member = *roster.add_members();
    member.set_worker(i);
    member.set_incarnation(1);
  }
  return roster;
}

inline MemberKey LifeOf(std::uint32_t worker, std::uint32_t incarnation = 1) {
  return {WorkerId(worker), Incarnation(incarnation)};
}

}  // namespace leeway::testing
