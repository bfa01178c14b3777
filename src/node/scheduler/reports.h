// Reports: the last word of every node about itself. Kept after the node is gone, for the summary of the job.
#pragma once

#include <map>
#include <string>

#include "leeway/ids.h"
#include "monitor/figures.h"
#include "wire/control.pb.h"

namespace leeway {

struct NodeReport {
  Iteration iteration{-1};
  std::string waiting_for;
  Figures figures;

  // Figures that the report does not name keep their value.
  void Take(const wire::pb::Report& report) {
    iteration = Iteration(report.iteration());
    waiting_for = report.waiting_for();
    for (const auto& [name, value] : report.values()) figures.Set(name, value);
  }
};

struct Reports {
  std::map<WorkerId, NodeReport> workers;
  std::map<ShardId, NodeReport> shards;
};

}  // namespace leeway
