// Env: the only way in which a node touches the world.
//
// transport/ implements it over an event loop and the system's files, sim/ over a virtual clock and
// modelled links and disks; nodes cannot tell which. One Env belongs to one node and one thread: every call
// is made on that thread, every callback comes on it, and no callback is made from inside a call. None comes
// once the Env is gone; a node that goes before its Env must not be reached by what it left behind (it
// cancels its timers, closes its connections, and lets the callbacks of Storage and Compute find out that it
// is gone).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "leeway/ids.h"

namespace leeway {

using Duration = std::chrono::nanoseconds;
// A point on a node's monotonic clock. Points of different nodes do not compare.
struct NodeClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<NodeClock>;
  static constexpr bool is_steady = true;
};
using TimePoint = NodeClock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  // Never goes back. The laziest correct implementation returns the time at which the current callback began.
  [[nodiscard]] virtual TimePoint Now() const = 0;
};

using TimerId = StrongInt<struct TimerTag, std::uint64_t>;  // 0 is none

class Timers {
 public:
  virtual ~Timers() = default;
  // Calls `fire` once, no earlier than `delay` from now, unless cancelled before.
  [[nodiscard]] virtual TimerId After(Duration delay, std::function<void()> fire) = 0;
  // Forgets a timer; one that fired already, was cancelled or is 0 is ignored.
  virtual void Cancel(TimerId id) = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  // 64 uniform bits: from a seed in the simulator; in the real world of a source that nobody can predict,
  // since the nonces of proofs are drawn from it.
  virtual std::uint64_t Next() = 0;
};

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

class Log {
 public:
  virtual ~Log() = default;
  virtual void Write(LogLevel level, std::string_view line) = 0;
};

class Transport;  // leeway/transport.h
class Storage;    // leeway/storage.h
class Compute;    // leeway/storage.h
class Arena;      // leeway/arena.h

struct Env {
  Clock& clock;
  Timers& timers;
  Transport& transport;
  Random& random;
  Log& log;
  Storage& storage;
  Compute& compute;
  Arena& arena;
};

}  // namespace leeway
