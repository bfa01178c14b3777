// ChurnLife: one life of one rank in the churn workload. Joins, pushes in every iteration, and leaves when
// the job's clock says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/worker/parameter_pair.h"
#include "sim/cluster.h"
#include "sim/run_to_end.h"
#include "sim/workloads/churn_books.h"
#include "sim/workloads/churn_plan.h"
#include "sim/workloads/churn_states.h"

namespace leeway::sim {

class ChurnLife final : public WorkloadPart {
 public:
  // Borrows all arguments.
  ChurnLife(Cluster& cluster, const ChurnPlan& plan, std::uint64_t seed, ChurnBooks& books,
            std::uint32_t rank);

  void Begin() override;
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string Where() const override;
  // Its node has failed. Returns whether that was expected.
  bool Failed(const Status& why, bool job_over);
  [[nodiscard]] bool fenced() const { return fenced_; }

 private:
  static constexpr const char* kJoining = "joining";

  [[nodiscard]] Done Then(const char* what, std::function<void()> next);
  [[nodiscard]] LifeBook& book() { return books_.lives[rank_][life_]; }
  void MakeTables();
  void Watch();
  void NoteTerms();
  void Iterate();
  void SetRules();
  void Compute();
  void PushAll();
  void Push(std::uint32_t table);
  void Leave();

  Cluster& cluster_;
  const ChurnPlan& plan_;
  ChurnBooks& books_;
  const std::uint32_t rank_;
  const std::uint32_t life_;
  WorkerNode& node_;
  Env& env_;
  SeededRandom random_, state_random_;
  const StateHabit habit_;
  std::vector<std::unique_ptr<ParameterPair>> pairs_;
  const char* at_ = kJoining;
  bool done_ = false;
  bool fenced_ = false;
};

}  // namespace leeway::sim
