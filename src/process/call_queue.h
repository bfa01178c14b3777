// CallQueue: calls from the user's threads to the node's, in one order, bounded.
//
// A ring without a lock. A caller writes the eventfd only when the node's loop has announced that it is about
// to sleep (LoopSource::MaySleep), so calls to an awake loop cost no system call. Thread rule: any thread
// calls Push and HasWork, the node's included; only the thread that runs the node's loop (OnRunner) calls the
// rest.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "leeway/status.h"
#include "process/call.h"
#include "transport/loop/event_loop.h"

namespace leeway {

class CallQueue final : public LoopSource {
 public:
  // At most kRingMax of the `max` calls wait. More would fall out of the caches between the two threads, and
  // a caller that is so far ahead loses nothing by waiting for room.
  static constexpr std::size_t kRingMax = 1024;
  // REQUIRES: `maker` outlives it.
  CallQueue(std::size_t max, CallMaker& maker);
  ~CallQueue() override;
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Readable when there are calls and the node was asleep.
  [[nodiscard]] int fd() const { return fd_; }
  // Waits at most `limit` while the queue is full. On an error the call will not be made. The node's own
  // thread cannot wait for itself, so its full queue takes `max` more. A call keeps its place until it and
  // the calls made with it, 64 at the most, have been made.
  [[nodiscard]] Status Push(Call&& call, std::chrono::milliseconds limit);
  // The descriptor was readable.
  void OnReadable();
  // Makes every call that was queued when it began.
  bool Poll() override;
  bool MaySleep() override;
  void OnAwake() override { sleeping_.store(false, std::memory_order_relaxed); }
  void OnRunner(bool here) override;
  [[nodiscard]] bool HasWork() const override {
    return tail_.load(std::memory_order_acquire) != head_.load(std::memory_order_acquire) ||
           own_waits_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool CallersSleep() const override { return maker_.CallersSleep(); }
  [[nodiscard]] bool CallersWait() const override { return maker_.CallersWait(); }
  // From now on Push fails with `why`, and the queued calls are dropped. No Poll follows; the node's thread
  // has ended.
  void Close(const Status& why);

 private:
  struct Cell {
    std::atomic<std::uint64_t> sequence{0};  // 1 + the position of the call in it; else it is empty
    Call call;
  };

  [[nodiscard]] Cell& At(std::uint64_t position) { return cells_[position & (cells_.size() - 1)]; }
  // Puts the call into the ring; false if it is full.
  bool TryPush(Call& call);
  [[nodiscard]] bool IsOwnThread() const;
  [[nodiscard]] Status PushOwn(Call& call);
  [[nodiscard]] Status WaitForRoom(Call& call, std::chrono::milliseconds limit);
  void WakeIfAsleep();
  // The cells below this position may be filled again.
  void FreeBelow(std::uint64_t position);
  // Gives `take` every call that was queued when it began, in place.
  template <typename Take>
  void TakeAll(Take take);

  const std::size_t max_;
  const int fd_;
  CallMaker& maker_;
  std::vector<Cell> cells_;
  alignas(64) std::atomic<std::uint64_t> tail_{0};  // the next position to fill
  alignas(64) std::atomic<std::uint64_t> head_{0};  // the first position that is not taken
  alignas(64) std::atomic<bool> sleeping_{true};    // the loop: new calls must write the descriptor
  std::atomic<bool> closed_{false};
  std::atomic<std::thread::id> node_{};  // runs the loop now
  std::atomic<int> room_wanted_{0};

  std::mutex mutex_;  // for the two below, and to sleep with
  std::condition_variable room_;
  Status why_closed_;

  std::vector<Call> own_;               // of the node's thread, while the ring is full
  std::atomic<bool> own_waits_{false};  // there are some
};

}  // namespace leeway
