// SpinBudget: decides whether a waiting thread spins before it sleeps, and how long.
//
// A sleep and a wake-up cost some microseconds; a peer on another core often answers in fewer. But a thread
// that spins on a core that another thread wants only delays that thread. So each place where threads wait
// learns its own budget:
//
//   SpinBudget spin(SystemSpinWorld());           // one per kind of waiting; spin.SetShared(...) if known
//   if (!spin.Spin([&] { return ready(); })) sleep();
//
//   - `ready` within the budget: spinning pays, and the budget grows to its maximum;
//   - not ready: the budget shrinks. After a few misses in a row the thread sleeps at once many times, before
//     it tries again, once, with the whole budget;
//   - this thread was preempted meanwhile (the kernel counts it): another thread wants this core, perhaps the
//     very one that this thread waits for. Spinning stops for a while, longer each time;
//   - ready at once, within a few looks: that says nothing;
//   - the caller works long on each event (large blocks): a wake-up costs little next to it, and a long spin
//     only burns time that the thread could sleep;
//   - the thread may run on one core only, and shares it (SetShared) with the thread it waits for: never.
//
// The thread calls `ready` again and again with a pause instruction between: it must be cheap next to a sleep
// (a load, or a poll without waiting). Thread rule: one thread at a time calls it, SetShared included.
#pragma once

#include <algorithm>
#include <cstdint>

namespace leeway {

// The machine as a SpinBudget sees it. The real one is in src/transport/system/system_spin_world.h.
class SpinWorld {
 public:
  virtual ~SpinWorld() = default;
  // A monotonic clock.
  [[nodiscard]] virtual std::int64_t NowNs() const = 0;
  // How often the calling thread lost its core to another one since it began.
  [[nodiscard]] virtual std::int64_t Preemptions() const = 0;
  // Cores that the calling thread may run on.
  [[nodiscard]] virtual int Cores() const = 0;
};

class SpinBudget {
 public:
  struct Options {
    std::int64_t most_ns = 150'000;  // a few sleeps with their wake-ups, or a batch of small messages
    // The limit where the work per event takes heavy_ns and more: less than the cost of a sleep with its
    // wake-up.
    std::int64_t heavy_ns = 60'000;
    std::int64_t heavy_most_ns = 20'000;
    std::int64_t least_ns = 4'000;  // below this the answer of a peer is no more likely to come in time
    int misses_max = 3;             // in a row, before it rests
    std::int64_t rest_min = 16;     // sleeps without a spin; doubles with every rest up to
    std::int64_t rest_max = 4096;
    std::int64_t preempted_rest_min_ns = 1'000'000;  // doubles while it is preempted again, up to
    std::int64_t preempted_rest_max_ns = 50'000'000;
  };

  // REQUIRES: `world` outlives it.
  explicit SpinBudget(const SpinWorld& world) : SpinBudget(world, Options()) {}
  SpinBudget(const SpinWorld& world, const Options& options);

  // The awaited thread runs on the same core and no other: spinning can only delay it.
  void SetShared(bool shared) { shared_ = shared; }

  // Notes the time of the work after a wait, found in a spin or after a sleep.
  void NoteWork(std::int64_t ns) {
    // A thread that lost its core meanwhile has not worked.
    work_ns_ += (std::min(ns, 4 * options_.heavy_ns) - work_ns_) / 4;
  }

  // Calls `ready` until it is true, for no longer than the budget. False at once when spinning does not pay.
  template <typename Ready>
  [[nodiscard]] bool Spin(Ready ready) {
    if (!Begin()) return false;
    bool found = false;
    do {
      // The clock costs as much as a few looks.
      for (int i = 0; i < kLooksPerClock && !found; ++i) {
        found = ready();
        if (!found) Pause();
      }
      if (found) break;
      Continue();
    } while (world_.NowNs() < end_ns_);
    End(found);
    return found;
  }

  // For tests and figures: how long the next spin may last; 0 while it rests.
  [[nodiscard]] std::int64_t budget_ns() const { return rest_ > 0 ? 0 : budget_ns_; }

 private:
  static constexpr int kLooksPerClock = 16;

  static void Pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  // False: sleep at once.
  [[nodiscard]] bool Begin();
  void Continue();
  void End(bool found);

  const SpinWorld& world_;
  const Options options_;
  bool shared_ = false;
  bool one_core_ = false;
  std::int64_t budget_ns_;
  std::int64_t end_ns_ = 0;
  std::int64_t work_ns_ = 0;       // what comes takes so long, about
  std::int64_t preemptions_ = -1;  // when this spin had begun; -1: not looked yet
  std::int64_t preempted_rest_ns_;
  std::int64_t no_spin_before_ns_ = 0;
  std::int64_t rest_ = 0;  // sleeps to go without a spin
  std::int64_t next_rest_;
  int misses_ = 0;
  std::uint32_t spins_ = 0;
};

}  // namespace leeway
