// WorkerReports: what a worker says of itself to the scheduler with every beat.
//
// Counts the user's calls and keeps the user's figures; the rest is read from a WorkerView. Thread rule: the
// node's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "leeway/worker.h"
#include "node/worker/worker_view.h"
#include "wire/control.pb.h"

namespace leeway {

class WorkerReports {
 public:
  // The user has made a call.
  void NoteAct() { ++acts_; }
  [[nodiscard]] std::uint64_t acts() const { return acts_; }
  // In every report from now on.
  void SetFigure(const std::string& name, double value) { figures_[name] = value; }
  // `user_waits`: the user is in a call that waits.
  [[nodiscard]] wire::pb::Report Make(const WorkerView& view, const WorkerCounters& counters,
                                      bool user_waits) const;

 private:
  std::uint64_t acts_ = 0;
  std::map<std::string, double> figures_;
};

}  // namespace leeway
