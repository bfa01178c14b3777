// LedgerBook: computes the required contents of a ledger run's cells from the pushes and their verdicts.
//
// It sees all workers of the simulated cluster at once, so it can check reads while the run continues.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "block/block.h"
#include "leeway/ids.h"
#include "sim/workloads/ledger_plan.h"
#include "wire/messages.h"

namespace leeway::sim {

class LedgerBook {
 public:
  // Borrows `plan`. Collects at most a few problems.
  explicit LedgerBook(const LedgerPlan& plan);

  // Learns how the scheduler cut the tables: the elements of blocks 0, 1, ... in the order of tables and
  // offsets, as the shards have them. Called once, when the shards have them.
  void TakeBlocks(const std::function<const Block*(BlockId)>& find);
  [[nodiscard]] bool has_blocks() const { return !blocks_.empty(); }

  // A worker hands a gradient to its node.
  void OnPush(std::size_t table, std::uint32_t rank, std::int64_t iteration);
  // `v_train` is the block's, as the verdict tells it.
  void OnVerdict(std::uint32_t rank, TableId table, BlockId block, Seq seq, Iteration iteration,
                 wire::Verdict verdict, Iteration v_train);
  // All blocks of the push have verdicts, and the node reported `status`.
  void OnPushDone(std::size_t table, std::uint32_t rank, std::int64_t iteration, const Status& status);
  // A worker reads a job-clock table in its iteration.
  void CheckRead(std::size_t table, std::uint32_t rank, std::int64_t iteration,
                 std::span<const float> values);
  // The job is over: `values` are a worker's final values, `find` finds the servers' blocks.
  void CheckFinal(std::size_t table, std::uint32_t rank, std::span<const float> values,
                  const std::function<const Block*(BlockId)>& find);
  // Checks that every push had its verdict, that the servers gave as many verdicts as the workers received,
  // and that the servers took exactly the withheld pushes (`skipped_late`) as absent.
  void CheckCounts(const BlockCounters& servers, std::uint64_t skipped_late);

  void Problem(std::string what);
  [[nodiscard]] std::vector<std::string>& problems() { return problems_; }
  [[nodiscard]] const VerdictCounts& verdicts() const { return verdicts_; }

 private:
  // Of a table under relay.
  void CheckMean(std::size_t table, std::uint32_t rank, std::int64_t iteration,
                 std::span<const float> values);
  struct Slice {
    BlockId block;
    std::size_t begin = 0, end = 0;  // elements of its table
  };
  struct TableBook {
    std::vector<Slice> slices;
    // By iteration, then element: ones handed over / taken by a server, as far as workers know.
    std::vector<std::vector<std::uint32_t>> pushed, taken;
  };
  struct PushKey {
    std::size_t table;
    std::uint32_t rank;
    std::int64_t iteration;
    friend auto operator<=>(const PushKey&, const PushKey&) = default;
  };
  struct PushState {
    std::size_t verdicts = 0;
    bool refused = false;
    bool done = false;
  };

  [[nodiscard]] const Slice* FindSlice(std::size_t table, BlockId block) const;
  void AddOnes(std::vector<std::vector<std::uint32_t>>& by_iteration, const PushKey& push, std::size_t begin,
               std::size_t end);
  void Count(wire::Verdict verdict);

  const LedgerPlan& plan_;
  std::vector<TableBook> tables_;
  std::map<BlockId, std::size_t> blocks_;  // to its table
  std::map<PushKey, PushState> pushes_;
  std::map<std::pair<std::uint32_t, BlockId>, std::uint64_t> last_seq_;
  VerdictCounts verdicts_;
  std::uint64_t withheld_ = 0;  // blocks of pushes whose verdict was ABSENT
  std::vector<std::string> problems_;
};

}  // namespace leeway::sim
