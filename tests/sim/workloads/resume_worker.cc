#include "sim/workloads/resume_worker.h"

#include <fmt/format.h>

#include <utility>

#include "base/hash.h"

namespace leeway::sim {
namespace {

constexpr std::uint64_t kWorkerStream = 61;
constexpr std::uint32_t kRun = 3;  // batches in a lease

}  // namespace

ResumeWorker::ResumeWorker(Cluster& cluster, const ResumePlan& plan, std::uint64_t seed, std::uint32_t rank,
                           std::vector<std::string>& problems)
    : plan_(plan),
      rank_(rank),
      node_(cluster.worker(rank)),
      env_(cluster.worker_env(rank)),
      problems_(problems),
      random_(Hash64({seed, kWorkerStream, rank})),
      slow_(rank == 0 ? 4 : 1) {}

void ResumeWorker::Begin() {
  node_.Join([this](const Status& status) {
    // The others may have ended the job while this life was starting.
    if (status.code() == StatusCode::kFailedPrecondition) return;
    Then("join", [this] { MakeTable(); })(status);
  });
}

std::string ResumeWorker::Where() const {
  return fmt::format("worker {} in iteration {}: {}; its node waits for: {}", rank_,
                     node_.iteration().value(), at_, node_.WaitingFor());
}

bool ResumeWorker::Failed(const Status& why) {
  done_ = why.code() == StatusCode::kFailedPrecondition;
  return done_;
}

Done ResumeWorker::Then(const char* what, std::function<void()> next) {
  return [this, what, next = std::move(next)](const Status& status) {
    if (status.ok()) return next();
    Problem(fmt::format("{}: {}", what, status.ToString()));
  };
}

void ResumeWorker::Problem(const std::string& what) {
  problems_.push_back(fmt::format("worker {}: {}", rank_, what));
}

void ResumeWorker::MakeTable() {
  at_ = "starting";
  began_ = node_.iteration().value();
  TableSpec spec;
  spec.name = "cells";
  spec.shape = {static_cast<std::int64_t>(plan_.blocks * plan_.cells())};
  spec.optimizer = "sum";
  pair_ = std::make_unique<ParameterPair>(spec.elements(), nullptr, nullptr);
  if (const Result<TableId> made = node_.CreateTable(spec, *pair_); !made.ok())
    return Problem(made.status().ToString());
  node_.Start(Then("start", [this] {
    auto zeros = std::make_shared<std::vector<float>>(pair_->elements(), 0.0F);
    const std::span<const float> values = *zeros;
    node_.Broadcast(TableId(0), values, std::move(zeros), Then("broadcast", [] {}));
    Iterate();
  }));
}

void ResumeWorker::Iterate() {
  if (plan_.batches > 0) return batches_.empty() ? Lease() : Use();
  if (node_.iteration().value() >= plan_.iterations) return Leave();
  Use();
}

void ResumeWorker::Lease() {
  at_ = "waiting for batches";
  node_.LeaseBatches("work", plan_.batches, kRun, std::exchange(used_, {}),
                     [this](const Status& status, const BatchLease& lease) {
                       if (!status.ok()) return Problem(status.ToString());
                       batches_.assign(lease.batches.begin(), lease.batches.end());
                       if (batches_.empty()) return Leave();
                       Use();
                     });
}

void ResumeWorker::Use() {
  at_ = "waiting for values";
  node_.Sync(TableId(0), Then("use", [this] {
               while (!pair_->Take()) {
               }
               at_ = "computing";
               const auto most = std::chrono::milliseconds(6 * slow_);
               (void)env_.timers.After(random_.Between(Duration::zero(), Duration(most)), [this] { Push(); });
             }));
}

void ResumeWorker::Push() {
  const Iteration iteration = node_.iteration();
  std::size_t cell = 0;
  if (plan_.batches > 0) {
    cell = batches_.front();
    batches_.pop_front();
    used_.push_back(iteration);
  } else {
    cell = rank_ * static_cast<std::size_t>(plan_.iterations) + iteration.index();
  }
  auto values = std::make_shared<std::vector<float>>(pair_->elements(), 0.0F);
  // If the model skips iterations, a rank may pass its last one.
  const bool beyond = plan_.batches == 0 && iteration.value() >= plan_.iterations;
  for (std::size_t at = cell; !beyond && at < values->size(); at += plan_.cells()) (*values)[at] = 1.0F;
  LentGradient gradient;
  gradient.values = *values;
  gradient.pin = std::move(values);
  if (const Status pushed = node_.Push(TableId(0), std::move(gradient), Then("push", [] {})); !pushed.ok())
    return Problem(pushed.ToString());
  if (const Status ended = node_.Clock(); !ended.ok()) return Problem(ended.ToString());
  if (node_.StateWanted()) node_.GiveState(std::make_shared<const std::vector<std::byte>>(8));
  Iterate();
}

void ResumeWorker::Leave() {
  at_ = "leaving";
  node_.Leave(Then("leave", [this] {
    at_ = "finishing";
    node_.Finish(Then("finish", [this] { node_.Shutdown(Then("shutdown", [this] { done_ = true; })); }));
  }));
}

}  // namespace leeway::sim
