// LedgerWorker: one simulated training process of a ledger run. Drives its WorkerNode by the calls that a
// user's process makes, from callbacks and timers: join, tables, iterations, leave, finish, goodbye.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "node/worker/worker_node.h"
#include "sim/cluster.h"
#include "sim/run_to_end.h"
#include "sim/seeded_random.h"
#include "sim/workloads/ledger_book.h"
#include "sim/workloads/ledger_plan.h"

namespace leeway::sim {

class LedgerWorker final : public WorkloadPart {
 public:
  // Borrows all arguments. REQUIRES: the worker's node exists.
  LedgerWorker(Cluster& cluster, const LedgerPlan& plan, LedgerBook& book, std::uint32_t rank);

  void Begin() override;
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string Where() const override;

 private:
  void MakeTables();
  void OfferValues();
  void Offered(bool barrier);
  void Iterate();
  void SetRules();
  void Read();
  void PushTable(std::size_t table);
  void PushBursts(std::size_t table, std::uint32_t left);
  void PullBurst(std::size_t table);
  void Clock();
  void Leave();
  void Finish();
  // Calls `next` after some time, on the worker's own timers.
  void After(Duration delay, std::function<void()> next);
  // Runs `next` if `status` is ok, else reports the failure of `what`.
  [[nodiscard]] Done Then(const char* what, std::function<void()> next);
  [[nodiscard]] LentGradient Gradient(std::size_t table, std::int64_t iteration) const;
  // The node took a push, or refused it.
  void Handed(std::size_t table, std::int64_t iteration, const Status& status);

  Cluster& cluster_;
  const LedgerPlan& plan_;
  LedgerBook& book_;
  const std::uint32_t rank_;
  WorkerNode& node_;
  Env& env_;
  SeededRandom random_;
  std::vector<std::unique_ptr<ParameterPair>> pairs_;  // by table
  std::vector<std::int64_t> own_pushed_;               // by table: pushes of an own-clock table so far
  std::vector<std::vector<float>> pulled_;             // by table: where own-clock pulls land
  std::vector<bool> pulling_;                          // by table
  std::int64_t iteration_ = 0;
  std::uint32_t bursts_open_ = 0;  // bursts that are still being pushed
  std::uint32_t pulls_open_ = 0;
  std::uint32_t rules_open_ = 0;
  std::uint32_t offers_left_ = 0;
  std::uint32_t reads_left_ = 0;
  const char* at_ = "not begun";
  bool leaving_ = false;
  bool done_ = false;
};

}  // namespace leeway::sim
