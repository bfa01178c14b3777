// PushQueue: the pushes of one block that have no verdict yet, in the order of their dense sequence.
//
// The client's half of the push ledger (design, section 8.2): at most K in flight, sent in order, kept until
// the verdict and resent as they are. Absent pushes take a sequence and a place like any other. A pure state
// machine; thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/ring.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "node/worker/lent_gradient.h"

namespace leeway {

// Each in a line of memory of its own: it is written once and read once, much later.
struct alignas(64) QueuedPush {
  Seq seq;
  Iteration iteration;
  std::shared_ptr<LentPush>
      lent;  // shared by the blocks of one gradient and by sends under way; null: absent
  Version base_version;
  std::uint64_t bytes = 0;  // of payload
  bool sent_before = false;
  bool withheld = false;  // its gradient is not sent: it goes out as absent
  bool idle = false;      // absent, in an iteration of another optimizer
};

class PushQueue {
 public:
  static constexpr std::size_t kInFlightMax = 4;  // K: the verdicts a server remembers per worker and block

  void Append(Iteration iteration, std::shared_ptr<LentPush> lent, Version base_version, std::uint64_t bytes);
  void AppendAbsent(Iteration iteration, bool idle);
  // The push that may be sent now: null when all is sent, K are in flight, or the queue is held back.
  [[nodiscard]] const QueuedPush* Next() const;
  // Gradients of iterations below `v_train` that were never sent go out as absent. Returns how many.
  std::uint64_t Withhold(Iteration v_train);
  // Next() was sent. True if it had been sent before.
  bool MarkSent();

  // A verdict that consumes `seq`: the push it settles, or nothing for a repeated verdict. An error if it
  // skips one.
  [[nodiscard]] Result<std::optional<QueuedPush>> Settle(Seq seq);
  // The server has taken everything up to `last` and got something above last + 1.
  void OnGap(Seq last);
  // `seq` is beyond the open iterations: it and what follows wait for OnOpen or a reconnect.
  void OnWindow(Seq seq);
  void OnOpen();
  // The block is not where it was: everything waits for OnReconnect (when its place is known again).
  void OnMoved();
  // A new connection: whatever has no verdict is sent again, from the first.
  void OnReconnect();
  // The block goes on under a new term, in which its owner has taken everything up to `last` and nothing
  // else: what waits is numbered from there on, and is based on no version that the owner knows. Returns how
  // many pushes that had their verdicts are lost.
  std::uint64_t Resume(Seq last);

  [[nodiscard]] bool empty() const { return queue_.empty(); }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] bool all_sent() const { return sent_ == queue_.size(); }
  [[nodiscard]] bool held() const { return held_; }
  // Nothing is under way, and nothing is sent before the server says so.
  [[nodiscard]] bool is_idle() const { return queue_.empty() || (held_ && sent_ == 0); }
  [[nodiscard]] std::uint64_t bytes_in_flight() const { return bytes_in_flight_; }
  [[nodiscard]] const QueuedPush& front() const { return queue_.front(); }
  // Empties the queue, handing each push to `each`: the worker has failed.
  void Drain(const std::function<void(QueuedPush&)>& each);

 private:
  // Everything from `seq` on counts as not sent.
  void Unsend(Seq seq);

  Ring<QueuedPush> queue_;
  std::uint64_t bytes_in_flight_ = 0;
  Seq next_seq_{1};
  // The last resend within this connection began here: a GAP that asks for the same again was caused by sends
  // before it.
  Seq resent_from_{0};
  std::uint32_t sent_ = 0;  // the first so many are in flight
  bool held_ = false;
};

}  // namespace leeway
