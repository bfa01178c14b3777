// Studies made by hand, for tests of reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenario/study.h"

namespace leeway::app::testing {

// Two workers and one server; worker 1 computes four times as long and never waits. Accuracy rises from 0.1
// at the begin to 0.5 at half of `seconds` and 0.9 at the end.
inline scenario::RunRecord MadeRun(double seconds, double fast_waits_s = 6) {
  scenario::RunRecord record;
  record.seconds = seconds;
  record.compute_s = 5;
  record.wait_s = fast_waits_s / 2;
  record.curve = {{0, 0, 2.5, 0.1}, {seconds / 2, 10, 1.5, 0.5}, {seconds, 20, 0.5, 0.9}};
  record.wait_bins.assign(scenario::kTimeBins, 0.01);
  record.answer_bins.assign(scenario::kTimeBins, 0.02);
  record.workers = {{.iterations = 20, .compute_s = 2, .wait_s = fast_waits_s, .ended_s = seconds},
                    {.iterations = 20, .compute_s = 8, .wait_s = 0, .ended_s = seconds}};
  record.server_message_s = {0.001};
  record.server_bytes = {100};
  record.lag = {.rows = 2, .columns = 2, .column_s = seconds / 2, .values = {0, 0, 1, 4}};
  record.waits = {.rows = 2, .columns = 2, .column_s = seconds / 2, .values = {0.25, 1, 0, 0}};
  record.timeline = {{.rank = 0, .iteration = 7, .asked_s = 0.5, .began_s = 1.5, .ended_s = 9}};
  return record;
}

inline scenario::RunRecord RunThatNeverBegan() {
  scenario::RunRecord record;
  record.errors = {"stopped before it began"};
  return record;
}

// A sweep over policies.sync: a name, and a run for each seed.
inline scenario::Study MadeStudy(
    const std::vector<std::pair<std::string, std::vector<scenario::RunRecord>>>& cells) {
  scenario::Study study;
  study.base.job.workers = 2;
  study.base.job.servers = 1;
  study.base.iterations = 20;
  study.base.problem = "mlp";
  study.base.recording.timeline_from_s = 1;
  study.base.recording.timeline_s = 2;
  for (const auto& [name, records] : cells) {
    scenario::Cell cell{
        .settings = {{"policies.sync", name}}, .label = name, .scenario = study.base, .records = records};
    cell.scenario.job.sync = name;
    study.cells.push_back(std::move(cell));
  }
  for (std::size_t i = 0; i < cells.at(0).second.size(); ++i) study.seeds.push_back(i + 1);
  return study;
}

}  // namespace leeway::app::testing
