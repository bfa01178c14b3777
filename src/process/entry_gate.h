// EntryGate: counts threads inside a critical region, so that the owner can wait for them before destroying
// it.
//
//   if (gate.Enter()) { ...; gate.Leave(); }        // any thread
//   gate.Close(); ...see to it that they leave...; gate.WaitEmpty();
#pragma once

#include <atomic>

namespace leeway {

class EntryGate {
 public:
  // False once the gate is closed.
  [[nodiscard]] bool Enter() {
    // Sequentially consistent with Close: either this thread sees the Close, or WaitEmpty sees this thread.
    inside_.fetch_add(1, std::memory_order_seq_cst);
    if (!closed_.load(std::memory_order_seq_cst)) return true;
    Leave();
    return false;
  }
  void Leave() {
    inside_.fetch_sub(1, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst)) inside_.notify_all();
  }
  void Close() { closed_.store(true, std::memory_order_seq_cst); }
  // REQUIRES: Close was called.
  void WaitEmpty() const {
    for (int inside = inside_.load(); inside != 0; inside = inside_.load()) inside_.wait(inside);
  }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace leeway
