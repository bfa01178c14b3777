// Reports: the last word of every node about itself. Kept after the node is gone, for the summary of the job.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "leeway/ids.h"
#include "monitor/figures.h"
#include "wire/control.pb.h"

namespace leeway {

struct NodeReport {
  Iteration iteration{-1};
  std::string waiting_for;
  Figures figures;
  std::vector<wire::pb::TableReport> tables;  // of a shard

  // Figures that the report does not name keep their value.
  void Take(const wire::pb::Report& report) {
    iteration = Iteration(report.iteration());
    waiting_for = report.waiting_for();
    for (const auto& [name, value] : report.values()) figures.Set(name, value);
    const int rows = std::min(report.tables_size(), kRowsMax);
    tables.assign(report.tables().begin(), report.tables().begin() + rows);
  }

 private:
  static constexpr int kRowsMax = 128;  // a shard sends fewer
};

struct Reports {
  std::map<WorkerId, NodeReport> workers;
  std::map<ShardId, NodeReport> shards;
};

}  // namespace leeway
