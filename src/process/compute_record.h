// ComputeRecord: measures a worker's own computation per iteration, without any of its waits, for `leeway run
// --record` (docs/calibration.md).
//
// It counts the processor time of all threads of this process: on cores that several workers share, wall time
// would include the other workers' share. Beside it stands the time in which the user's thread needed no core
// and waited for nobody here (a GPU, a disk). It leaves out the first iteration, which warms everything up.
//
// Thread rule: the first thread that ends an iteration is measured; calls of other threads are ignored.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "leeway/ids.h"

namespace leeway {

class ComputeRecord {
 public:
  // Counts times by their logarithm: bucket n is around kBucketBase^n microseconds.
  static constexpr double kBucketBase = 1.04;
  // With more tables than this the record does not note when each was ready.
  static constexpr std::uint32_t kTablesMax = 512;

  ComputeRecord() = default;
  ~ComputeRecord();
  ComputeRecord(const ComputeRecord&) = delete;
  ComputeRecord& operator=(const ComputeRecord&) = delete;

  void BeginWait();
  void EndWait();
  // The user hands over a gradient of this table.
  void NoteReady(TableId table);
  void Clock();

  // True now and then: a report is due.
  [[nodiscard]] bool IsDue();
  // record.iterations, record.seconds (from the end of the first to the end of the last), record.cpu_s,
  // record.elsewhere_s, record.wait_cpu_s, record.cpu.N for bucket N, and record.ready.T for table T: the sum
  // of the shares of its iterations' processor time after which it was ready.
  [[nodiscard]] std::vector<std::pair<std::string, double>> Figures() const;

 private:
  // Times since some fixed moment, in seconds.
  struct Reading {
    double wall_s = 0;
    double process_cpu_s = 0;
    double thread_cpu_s = 0;
    double queued_s = 0;  // the thread was ready to run, and others had the cores
  };
  [[nodiscard]] Reading Read() const;
  [[nodiscard]] bool IsOwner() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  std::atomic<std::thread::id> owner_;  // others ask whether they are it
  int schedstat_ = -1;                  // of the owner
  Reading first_, began_, wait_began_;
  Reading aside_;  // waits since began_
  double last_end_s_ = 0;
  double reported_s_ = 0;
  std::vector<std::pair<std::uint32_t, double>> ready_;  // tables of this iteration, and the time so far
  std::uint64_t iterations_ = 0;
  double cpu_s_ = 0, elsewhere_s_ = 0, wait_cpu_s_ = 0;
  std::map<int, std::uint64_t> buckets_;
  std::map<std::uint32_t, double> ready_shares_;
};

}  // namespace leeway
