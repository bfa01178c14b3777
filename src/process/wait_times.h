// WaitTimes: how long the user's thread waited, by cause. Thread rule: any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "process/compute_record.h"
#include "process/step_trace.h"

namespace leeway {

enum class WaitCause : std::uint8_t {
  kValues,   // Sync: the synchronization model, or the network
  kTickets,  // Wait: verdicts and answers of asynchronous calls
  kBarriers,
  kBatches,  // leases from the scheduler
  kEnd,      // the other members to leave, and the final values
};
inline constexpr std::array<const char*, 5> kWaitFigures{"wait_values_s", "wait_tickets_s", "wait_barriers_s",
                                                         "wait_batches_s", "wait_end_s"};

class WaitTimes {
 public:
  // Adds the time spent in a scope.
  class Scope {
   public:
    // `of`: what it waits for, in words.
    Scope(WaitTimes& times, WaitCause cause, std::string_view of)
        : record_(times.record_),
          trace_(times.trace_),
          ns_(times.ns_[static_cast<std::size_t>(cause)]),
          begin_(std::chrono::steady_clock::now()) {
      if (record_ != nullptr) record_->BeginWait();
      if (trace_ != nullptr) trace_->BeginWait(of);
    }
    ~Scope() {
      if (record_ != nullptr) record_->EndWait();
      if (trace_ != nullptr) trace_->EndWait();
      const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin_;
      ns_.fetch_add(static_cast<std::uint64_t>(spent.count()), std::memory_order_relaxed);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ComputeRecord* const record_;
    StepTrace* const trace_;
    std::atomic<std::uint64_t>& ns_;
    const std::chrono::steady_clock::time_point begin_;
  };

  // Reports later waits to them. REQUIRES: they outlive this.
  void Tell(ComputeRecord& record) { record_ = &record; }
  void Tell(StepTrace& trace) { trace_ = &trace; }

  [[nodiscard]] std::uint64_t total_ns() const {
    std::uint64_t sum = 0;
    for (const auto& ns : ns_) sum += ns.load(std::memory_order_relaxed);
    return sum;
  }
  // Calls set(name, seconds) for `wait_s` and for every cause so far.
  template <typename Set>
  void ForEachFigure(Set set) const {
    set("wait_s", Seconds(total_ns()));
    for (std::size_t i = 0; i < ns_.size(); ++i) {
      const std::uint64_t ns = ns_[i].load(std::memory_order_relaxed);
      if (ns > 0) set(kWaitFigures[i], Seconds(ns));
    }
  }

 private:
  static double Seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

  ComputeRecord* record_ = nullptr;
  StepTrace* trace_ = nullptr;
  std::array<std::atomic<std::uint64_t>, kWaitFigures.size()> ns_{};
};

}  // namespace leeway
