// Call: one call of a user's thread to the node, as the CallQueue stores it.
//
// The calls of every iteration have fields of their own, so that queueing them allocates nothing. Every other
// call is a function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "leeway/ids.h"
#include "leeway/worker.h"
#include "node/worker/lent_gradient.h"

namespace leeway {

struct Call {
  enum class Kind : std::uint8_t { kFunction, kPush, kPull, kPushPull, kClock };

  // A call without a ticket.
  [[nodiscard]] static Call Of(std::function<void()> function) {
    Call call;
    call.function = [function = std::move(function)](const Done&) { function(); };
    return call;
  }

  // Releases everything that it holds. A moved-from call holds nothing, and costs nothing here.
  void Clear() {
    gradient.pin = nullptr;
    if (also) also = nullptr;
    if (function) function = nullptr;
  }

  Kind kind = Kind::kFunction;
  TableId table;
  Ticket ticket = 0;
  std::optional<std::uint32_t> group;  // kClock: the group whose iteration ends; nothing: all groups
  LentGradient gradient;               // kPush, kPushPull
  std::span<float> values;             // kPull, kPushPull
  Done also;                           // hears of the outcome before the ticket does; may be empty
  std::function<void(Done)> function;  // kFunction: gets the callback that ends it
};

// Makes the calls on the node's thread: several between Begin and End.
class CallMaker {
 public:
  virtual ~CallMaker() = default;
  virtual void BeginCalls() = 0;
  virtual void Make(Call& call) = 0;
  virtual void EndCalls() = 0;
  // Returns whether the callers sleep until one of the calls has ended (LoopSource::CallersSleep). The
  // laziest correct answer is no.
  [[nodiscard]] virtual bool CallersSleep() const { return false; }
  // LoopSource::CallersWait.
  [[nodiscard]] virtual bool CallersWait() const { return false; }
};

}  // namespace leeway
