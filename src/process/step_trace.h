// StepTrace: the user's thread in a trace: where it computes, and where it waits in a call of the worker.
//
// Thread rule: the first thread that ends an iteration is traced; calls of other threads are ignored.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <thread>

#include "leeway/ids.h"
#include "leeway/trace.h"

namespace leeway {

class StepTrace {
 public:
  // REQUIRES: `trace` outlives it.
  explicit StepTrace(Trace& trace) : trace_(trace) {}

  // `of`: the table or the thing that it waits for.
  void BeginWait(std::string_view of);
  void EndWait();
  // An iteration ends; the next one is `next`.
  void Clock(Iteration next);

 private:
  [[nodiscard]] bool IsOwner() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  // The slice of computing that ends now.
  void AddCompute(TimePoint now);

  Trace& trace_;
  std::atomic<std::thread::id> owner_;  // others ask whether they are it
  Iteration iteration_;
  TimePoint computes_since_;
  std::uint64_t waits_ = 0;
  bool wait_traced_ = false;
};

}  // namespace leeway
