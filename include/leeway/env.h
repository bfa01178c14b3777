// Env: the only way in which a node touches the world.
//
// src/transport implements Env over an event loop and the system's files; src/sim implements it over a
// virtual clock and modelled links and disks. A node cannot tell which one it has.
//
// Thread rule: one Env belongs to one node and one thread. The node makes every call on that thread, and
// every callback runs on it, never from inside a call.
//
// Lifetime rule: no callback runs after the Env is destroyed. A node that is destroyed before its Env cancels
// its timers and closes its connections. Its Storage and Compute callbacks check that the node still lives.
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

using TimerId = StrongInt<struct TimerTag, std::uint64_t>;  // 0: no timer

class Timers {
 public:
  virtual ~Timers() = default;
  // Calls `fire` once, no earlier than `delay` from now, unless cancelled before.
  [[nodiscard]] virtual TimerId After(Duration delay, std::function<void()> fire) = 0;
  // Forgets a timer. Ignores 0 and a timer that has fired or was cancelled.
  virtual void Cancel(TimerId id) = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  // Returns 64 uniform bits. The simulator draws them from a seed. A real process draws them from a source
  // that nobody can predict, because they become the nonces of proofs.
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
class Trace;      // leeway/trace.h

struct Env {
  Clock& clock;
  Timers& timers;
  Transport& transport;
  Random& random;
  Log& log;
  Storage& storage;
  Compute& compute;
  Arena& arena;
  Trace* trace = nullptr;  // null: nobody wants one
};

}  // namespace leeway
