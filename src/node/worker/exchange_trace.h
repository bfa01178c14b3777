// ExchangeTrace: the pushes and pulls of a worker as spans of a trace, and its frames of gradients as slices.
//
// Does nothing without a trace. Thread rule: the node's.
#pragma once

#include <cstdint>
#include <span>

#include "leeway/ids.h"
#include "leeway/trace.h"
#include "node/worker/lent_gradient.h"
#include "node/worker/table.h"
#include "node/worker/worker_identity.h"
#include "wire/messages.h"

namespace leeway {

class ExchangeTrace {
 public:
  // `trace` may be null; else it outlives this.
  explicit ExchangeTrace(Trace* trace) : trace_(trace) {}
  [[nodiscard]] bool Wants(Iteration iteration) const {
    return trace_ != nullptr && trace_->Wants(iteration);
  }

  // The push of a gradient begins; it ends when `done` is called, which this replaces.
  void BeginPush(const WorkerTable& table, Iteration iteration, TimePoint ready, Done& done) const;
  // The question for the values after `iteration`.
  void BeginPull(const WorkerTable& table, Iteration iteration) const;
  void EndPull(const WorkerTable& table, Iteration iteration) const;
  // A frame with gradients of these blocks will go to the transport. `of`: one of its tables. The events
  // survive the death of this process from now on.
  void AddFrame(const WorkerIdentity& self, const WorkerTable& of, Iteration iteration,
                std::span<const wire::PushEntry> entries) const;

 private:
  Trace* const trace_;
};

}  // namespace leeway
