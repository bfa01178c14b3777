// ResumeWorker: one life of a rank in the resume workload. In every iteration it pushes one gradient, which
// adds 1 to the cell of this rank and iteration, or of the batch that it drew, in each block.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster.h"
#include "sim/run_to_end.h"
#include "sim/seeded_random.h"

namespace leeway::sim {

struct ResumePlan {
  JobOptions job;
  std::int64_t iterations = 0;  // of each rank, without a pool
  std::uint64_t batches = 0;    // 0: without a pool
  std::uint32_t blocks = 0;
  bool skips = false;  // the model skips iterations, and drops late pushes

  // Cells of one block.
  [[nodiscard]] std::size_t cells() const {
    return batches > 0 ? batches : job.workers * static_cast<std::size_t>(iterations);
  }
};

class ResumeWorker final : public WorkloadPart {
 public:
  ResumeWorker(Cluster& cluster, const ResumePlan& plan, std::uint64_t seed, std::uint32_t rank,
               std::vector<std::string>& problems);

  void Begin() override;
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string Where() const override;
  [[nodiscard]] std::int64_t began() const { return began_; }
  // The node has failed: returns whether a life that others may have ended can expect this.
  [[nodiscard]] bool Failed(const Status& why);

 private:
  [[nodiscard]] Done Then(const char* what, std::function<void()> next);
  void Problem(const std::string& what);
  void MakeTable();
  void Iterate();
  void Lease();
  void Use();
  void Push();
  void Leave();

  const ResumePlan& plan_;
  const std::uint32_t rank_;
  WorkerNode& node_;
  Env& env_;
  std::vector<std::string>& problems_;
  SeededRandom random_;
  std::int64_t slow_;  // how many times longer than others it computes
  std::unique_ptr<ParameterPair> pair_;
  std::deque<std::uint64_t> batches_;  // leased
  std::vector<Iteration> used_;        // of the last lease: when its batches were
  std::int64_t began_ = -1;
  const char* at_ = "joining";
  bool done_ = false;
};

}  // namespace leeway::sim
