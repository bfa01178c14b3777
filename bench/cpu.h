// Cores and processor time, as the bench needs them. Linux only.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace leeway::bench {

[[nodiscard]] int Cores();
// Pins the calling thread, and the threads and processes it makes later, to the `n`-th core it may use; with
// a single core nothing is done.
void PinToCore(int n);
// The same to the first `n` cores.
void PinToCores(int n);
// Processor time that a process has used so far; 0 if it is gone.
[[nodiscard]] double ProcessorSeconds(pid_t process);
// Processor time of this process and of all its children that have ended and were waited for.
[[nodiscard]] double OwnProcessorSeconds();

// Processor time of the whole machine since it started.
struct MachineTime {
  double all_s = 0;   // of all its cores together
  double used_s = 0;  // not idle; what a virtual machine's host took is in it
};
[[nodiscard]] MachineTime MachineTimeNow();
// The share of the machine's time between `from` and `to` that was used, and not by `own_s` of ours; 0 to 1.
[[nodiscard]] double OthersShare(const MachineTime& from, const MachineTime& to, double own_s);
// The same over `time`, in which it sleeps.
[[nodiscard]] double BusyShare(std::chrono::milliseconds time);

}  // namespace leeway::bench
