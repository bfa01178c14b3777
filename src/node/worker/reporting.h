// Reporting: tells the scheduler and the user how the worker is: a report with every beat, answers to the
// scheduler's surveys, and explanations of long waits.
//
// Reads the worker's other parts through a WorkerView, which the node makes for each call. Its timers run the
// due callbacks. Thread rule: the node's.
#pragma once

#include <functional>
#include <string>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/worker.h"
#include "node/link.h"
#include "node/worker/due_callbacks.h"
#include "node/worker/inquiries.h"
#include "node/worker/user_activity.h"
#include "node/worker/worker_reports.h"
#include "node/worker/worker_view.h"
#include "wire/control.pb.h"

namespace leeway {

class Reporting {
 public:
  struct Events {
    std::function<WorkerView()> view;  // of now
    std::function<void()> beat;        // the report of a beat was sent
  };
  // Borrows all but `options` and `events` for its life.
  Reporting(Timers& timers, const LinkOptions& options, Link& scheduler, const WorkerCounters& counters,
            const UserActivity& user, DueCallbacks& due, Events events);
  ~Reporting() { Stop(); }
  Reporting(const Reporting&) = delete;
  Reporting& operator=(const Reporting&) = delete;

  // Reports with every beat from now on.
  void Start();
  // Ends the beats, and drops all questions without an answer.
  void Stop();
  // Reports at once, if the scheduler is connected.
  void Report() const;
  // The user has made a call.
  void NoteAct() { reports_.NoteAct(); }
  void SetFigure(const std::string& name, double value) { reports_.SetFigure(name, value); }

  // As WorkerNode::ExplainWait. `self` is the rank of this worker.
  void Explain(WorkerId self, Explained done);
  // The scheduler asks which workers this one waits for.
  void OnSurvey(const wire::pb::Why& why);
  void OnReply(const wire::pb::WhyReply& reply, bool of_scheduler) {
    inquiries_.OnReply(reply, of_scheduler);
  }

 private:
  [[nodiscard]] bool UserWaits(const WorkerView& view) const;
  void OnBeat();
  void OnSurveyed(wire::pb::WhyReply reply);

  Timers& timers_;
  const Duration beat_, give_up_after_;
  Link& scheduler_;
  const WorkerCounters& counters_;
  const UserActivity& user_;
  DueCallbacks& due_;
  const Events events_;
  WorkerReports reports_;
  Inquiries inquiries_;
  TimerId timer_;
};

}  // namespace leeway
