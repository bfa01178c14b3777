// Trace: events of some iterations of a run, for people who look at them as a picture (docs/operations.md).
//
// Nodes and the calls of a worker add events; src/process/trace_file writes them. Without a trace (a null
// pointer) they add nothing.
//
// Thread rule: any thread. Lifetime rule: it outlives the nodes that add to it.
#pragma once

#include <cstdint>
#include <string_view>

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

struct TraceEvent {
  enum class Kind : std::uint8_t {
    kBegin,    // a span begins: no work of a thread, and spans may overlap as they like
    kEnd,      // the span of the same `name` and `id` ends
    kSlice,    // work of a thread, from `at` to `until`
    kFlowOut,  // an arrow begins at the slice around `at`
    kFlowIn,   // the arrow with the same `id` ends at the slice around `at`, perhaps in another process
  };
  Kind kind = Kind::kSlice;
  const char* name = "";     // of a few: "compute", "wait", "push", "pull", "send", "apply", ...
  std::string_view of = {};  // the table, or the module
  Iteration iteration;
  std::uint64_t id = 0;  // of spans: unique in this process; of arrows: in the job
  TimePoint at, until = {};
  std::uint32_t track = 0;  // the thread of a slice or an arrow
};

class Trace {
 public:
  // The tracks of a worker. A server's tracks are 1 + the index of the shard.
  static constexpr std::uint32_t kUserTrack = 1, kModulesTrack = 2, kNodeTrack = 3;

  virtual ~Trace() = default;
  // Whether events of this iteration are wanted.
  [[nodiscard]] virtual bool Wants(Iteration iteration) const = 0;
  // The time now. Unlike a node's clock it goes on during a turn.
  [[nodiscard]] virtual TimePoint Now() const = 0;
  virtual void Add(const TraceEvent& event) = 0;
  // All events that were added before survive the death of this process.
  virtual void Flush() = 0;
};

}  // namespace leeway
