// SimulatedWorker: one rank of a simulated job. It drives the node as the PyTorch front does: parameters when
// they are usable, a gradient that takes its time, pushes from the last table to the first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "scenario/compute_time.h"
#include "scenario/machines.h"
#include "scenario/run_books.h"
#include "scenario/scenario.h"
#include "sim/cluster.h"

namespace leeway::scenario {

class SimulatedWorker final {
 public:
  // Returns whether the process may end with this status, because faults are part of the scenario.
  using MayEnd = std::function<bool(const Status&)>;
  // Borrows all but `may_end`. `seed` is the run's.
  SimulatedWorker(sim::Cluster& cluster, const Machines& machines, const Scenario& scenario,
                  problem::Problem& problem, RunBooks& books, std::uint64_t seed, std::uint32_t rank,
                  MayEnd may_end);

  // With `comes_late` the others are training already.
  void Begin(bool comes_late);
  // It has done its last iteration.
  [[nodiscard]] bool has_left() const { return has_left_; }
  // The process dies: it takes itself out of the books.
  void CloseBooks();
  // Its position and the cause of its wait, for people.
  [[nodiscard]] std::string Where() const;

 private:
  struct Gradient {
    std::vector<std::vector<float>> values;  // by table
  };
  [[nodiscard]] Done Then(std::function<void()> next);
  // Continues only if `status` is ok.
  [[nodiscard]] bool Ok(const Status& status);
  [[nodiscard]] Duration Now() const { return cluster_.queue().now(); }

  void MakeTables();
  void OfferValues();
  void Ask();
  void UseTables();
  void UseNext();
  void EndForward();
  void Compute();
  // Whether it counts as one that computes: all others wait.
  void SetComputing(bool computes);
  void BeginComputing();
  void ComputeGradientAndPush();
  void JudgeIfDue();
  void ComputeGradient(std::uint64_t iteration);
  [[nodiscard]] std::shared_ptr<Gradient> FreeGradient();
  // Calls `next` when the compute time of this iteration is done up to a share of it.
  void ComputeUntil(double share, std::function<void()> next);
  void PushFrom(std::size_t above);
  void PushReady(std::size_t above);
  void SleepIfSlowed();
  [[nodiscard]] bool Push(std::size_t table);
  void Clock();
  void Leave();
  // Adds the counters of its node to the books.
  void CountOwn();
  [[nodiscard]] problem::Judgement Judge();
  // The parameters in use, by table.
  [[nodiscard]] std::vector<std::span<const float>> Fronts() const;

  sim::Cluster& cluster_;
  const Machines& machines_;
  const Scenario& scenario_;
  problem::Problem& problem_;
  RunBooks& books_;
  const std::uint64_t seed_;
  const std::uint32_t rank_;
  WorkerNode& node_;
  Env& env_;
  ComputeTime compute_time_;
  std::vector<std::unique_ptr<ParameterPair>> pairs_;  // by table
  std::vector<std::shared_ptr<Gradient>> gradients_;   // lent, or free again
  std::shared_ptr<Gradient> gradient_;                 // of the iteration under way; null: the fixed one
  std::vector<double> used_share_, ready_share_;       // of the compute time, by table
  std::size_t used_ = 0;                               // tables of this iteration so far
  bool using_ = false;                                 // UseTables is at work
  double slowed_ = 1;                                  // by so much
  const MayEnd may_end_;
  // Expires with this worker: its process may die while it computes.
  const std::shared_ptr<const bool> lives_ = std::make_shared<const bool>(true);
  bool comes_late_ = false, is_in_iteration_ = false, is_computing_ = false, has_left_ = false,
       is_done_ = false;
  Duration asked_{}, first_{}, began_{}, takes_{}, waited_{};
  double done_share_ = 0;  // of takes_
};

}  // namespace leeway::scenario
