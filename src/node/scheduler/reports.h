// Reports: the last word of every node about itself. Kept after the node is gone, for the summary of the job.
//
// A seat (a rank, a shard) may have several lives one after the other, and each counts from 0. The counts of
// earlier lives are kept and added, so that the sum of a seat never falls.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "monitor/figures.h"
#include "wire/control.pb.h"

namespace leeway {

class NodeReport {
 public:
  static constexpr int kRowsMax = 2048;  // a shard sends fewer
  static constexpr int kModelsMax = kRowsMax;

  // A report replaces the one before of the same life. The report of another life is added to the counts of
  // earlier lives.
  void Take(const wire::pb::Report& report, std::uint64_t life, TimePoint now);

  [[nodiscard]] Iteration iteration() const { return iteration_; }
  [[nodiscard]] const std::string& waiting_for() const { return waiting_for_; }
  // Of a worker, as it was at().
  [[nodiscard]] const wire::pb::WorkerMoment& moment() const { return moment_; }
  [[nodiscard]] TimePoint at() const { return at_; }
  // Of a worker, over all lives: when its first step began, and its last one ended.
  [[nodiscard]] std::optional<TimePoint> training_began() const { return training_began_; }
  [[nodiscard]] std::optional<TimePoint> step_ended() const { return step_ended_; }
  // Of a worker: its last life needs no server any more.
  [[nodiscard]] bool has_final() const { return has_final_; }
  [[nodiscard]] const Figures& figures() const { return figures_; }
  // Of a shard: its tables, and the models that their rows point at.
  [[nodiscard]] const std::vector<wire::pb::TableReport>& tables() const { return tables_; }
  [[nodiscard]] const std::vector<wire::pb::TableModel>& models() const { return models_; }

 private:
  struct TableBase {
    std::uint64_t dpr = 0;
    double waited_s = 0;
  };
  void EndLife();

  std::optional<std::uint64_t> life_;  // that sent the last one
  Iteration iteration_{-1};
  std::string waiting_for_;
  wire::pb::WorkerMoment moment_;
  TimePoint at_;
  std::optional<TimePoint> training_began_, step_ended_;
  bool has_final_ = false;
  Figures base_;                                    // of the lives before
  Figures newest_;                                  // of the last report
  Figures figures_;                                 // both
  std::map<std::uint32_t, TableBase> table_bases_;  // by table
  std::vector<wire::pb::TableReport> tables_;       // with what lives before had
  std::vector<wire::pb::TableModel> models_;
};

struct Reports {
  std::map<WorkerId, NodeReport> workers;
  std::map<ShardId, NodeReport> shards;
  Iteration fastest_before{-1};  // of workers of an earlier scheduler, as the log knows it

  // The highest iteration that any worker reported.
  [[nodiscard]] Iteration Fastest() const;
  // Pushes that workers know to be lost.
  [[nodiscard]] std::uint64_t Lost() const;
  // From the first step of the first worker that began to the last that any has ended.
  [[nodiscard]] Duration Training() const;
  // Since when the job runs, as far as this scheduler knows: `started`, or the first step of a worker that
  // trained under a scheduler before.
  [[nodiscard]] TimePoint Began(TimePoint started) const;
};

}  // namespace leeway
