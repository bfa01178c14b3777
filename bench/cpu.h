// Cores and processor time, as the bench needs them. Linux only.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace leeway::bench {

[[nodiscard]] int Cores();
// Pins the calling thread, and the threads and processes it makes later, to the `n`-th core it may use; with
// a single core nothing is done.
void PinToCore(int n);
// Processor time that a process has used so far; 0 if it is gone.
[[nodiscard]] double ProcessorSeconds(pid_t process);
// The share of the machine's processor time that is used or stolen by others during `time`, in which it
// sleeps.
[[nodiscard]] double BusyShare(std::chrono::milliseconds time);

}  // namespace leeway::bench
