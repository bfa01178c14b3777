// Call: one call of a user's thread to the node, as the CallQueue stores it.
//
// The calls of every iteration have fields of their own. Every other call is a function.
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

  Kind kind = Kind::kFunction;
  TableId table;
  Ticket ticket = 0;
  std::optional<std::uint32_t> group;  // kClock: the group whose iteration ends; nothing: all groups
  LentGradient gradient;               // kPush, kPushPull
  std::span<float> values;             // kPull, kPushPull
  Done also;                           // hears of the outcome before the ticket does; may be empty
  std::function<void(Done)> function;  // kFunction: gets the callback that ends it
};

// The node as a CallQueue sees it.
class CallMaker {
 public:
  virtual ~CallMaker() = default;
  // Any thread: whether the calling thread is the node's.
  [[nodiscard]] virtual bool OnNodeThread() const = 0;
  // Any thread: the node's thread shall call CallQueue::MakeAll soon. Must not block, nor call the queue.
  virtual void AskForMakeAll() = 0;
  // The node's thread: makes calls, several between Begin and End.
  virtual void BeginCalls() = 0;
  virtual void Make(Call& call) = 0;
  virtual void EndCalls() = 0;
};

}  // namespace leeway
