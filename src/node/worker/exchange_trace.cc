#include "node/worker/exchange_trace.h"

#include <utility>

#include "node/push_flow.h"

namespace leeway {
namespace {

// Of one table and iteration; a worker has far fewer tables and iterations than fit.
std::uint64_t SpanId(TableId table, Iteration iteration) {
  return std::uint64_t{table.value()} << 40 | static_cast<std::uint64_t>(iteration.value());
}

TraceEvent SpanOf(const WorkerTable& table, Iteration iteration, const char* name, TimePoint at) {
  return {.kind = TraceEvent::Kind::kBegin,
          .name = name,
          .of = table.spec.name,
          .iteration = iteration,
          .id = SpanId(table.id, iteration),
          .at = at,
          .track = Trace::kNodeTrack};
}

}  // namespace

void ExchangeTrace::BeginPush(const WorkerTable& table, Iteration iteration, TimePoint ready,
                              Done& done) const {
  if (!Wants(iteration)) return;
  TraceEvent event = SpanOf(table, iteration, "push", ready);
  trace_->Add(event);
  event.kind = TraceEvent::Kind::kEnd;
  event.of = {};  // the table may be gone by then
  done = [trace = trace_, event, done = std::move(done)](const Status& status) mutable {
    event.at = trace->Now();
    trace->Add(event);
    if (done) done(status);
  };
}

void ExchangeTrace::BeginPull(const WorkerTable& table, Iteration iteration) const {
  if (Wants(iteration)) trace_->Add(SpanOf(table, iteration, "pull", trace_->Now()));
}

void ExchangeTrace::EndPull(const WorkerTable& table, Iteration iteration) const {
  if (!Wants(iteration)) return;
  TraceEvent event = SpanOf(table, iteration, "pull", trace_->Now());
  event.kind = TraceEvent::Kind::kEnd;
  trace_->Add(event);
}

void ExchangeTrace::AddFrame(const WorkerIdentity& self, const WorkerTable& of, Iteration iteration,
                             std::span<const wire::PushEntry> entries) const {
  if (!Wants(iteration)) return;
  const TimePoint at = trace_->Now();
  for (const wire::PushEntry& entry : entries) {
    trace_->Add({.kind = TraceEvent::Kind::kFlowOut,
                 .name = kPushFlow,
                 .iteration = iteration,
                 .id = PushFlowId(self.worker, self.incarnation, entry.block, entry.seq),
                 .at = at,
                 .track = Trace::kNodeTrack});
  }
  trace_->Add({.kind = TraceEvent::Kind::kSlice,
               .name = "send",
               .of = of.spec.name,
               .iteration = iteration,
               .at = at,
               .until = trace_->Now(),
               .track = Trace::kNodeTrack});
  // Before the frame leaves: a server may write the ends of its arrows, also if this process is killed now.
  trace_->Flush();
}

}  // namespace leeway
