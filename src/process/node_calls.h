// NodeCalls: the worker's node on a thread of its own, and the calls of the user's threads to it.
//
// All blocking waits for the node are here. Every wait has a limit, and its error names the cause.
//
// Thread rule: the owner's thread calls Start and Stop; any thread calls the rest, env only between the two.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/worker.h"
#include "node/worker/worker_node.h"
#include "process/call_queue.h"
#include "process/node_thread.h"
#include "process/ticket_book.h"
#include "process/user_waits.h"

namespace leeway {

class NodeCalls final : private CallQueue::Node {
 public:
  struct Limits {
    std::size_t queue_max;                 // calls that wait for the node; outcomes that no thread takes
    std::chrono::milliseconds wait_max;    // for anything but live workers
    std::chrono::milliseconds stall_warn;  // a longer wait is logged, with its cause
  };
  // A thread that waits asks `interrupted` (may be empty) ten times a second; true ends the wait with
  // kCancelled. REQUIRES: `log` outlives it.
  NodeCalls(const Limits& limits, std::function<bool()> interrupted, Log& log);
  NodeCalls(const NodeCalls&) = delete;
  NodeCalls& operator=(const NodeCalls&) = delete;

  // Starts the thread and makes the node on it.
  void Start(Carrier carrier, const std::function<std::unique_ptr<WorkerNode>(Env&)>& make);
  // The worker has joined: from now on the threads that wait are those that train.
  void SetJoined() { joined_ = true; }
  // Joins the thread and destroys the node. Later calls, and those under way, end with `why`.
  void Stop(const Status& why);
  // The owner's thread: whether there is a node.
  [[nodiscard]] bool running() const { return node_ != nullptr; }
  [[nodiscard]] Env& env() { return thread_->env(); }

  // A call gets the callback that ends it, with its outcome.
  using Call = std::function<void(WorkerNode&, const leeway::Done&)>;
  // Queues a call under a new ticket; waits at most `limit` (by default wait_max) for room. `also` (may be
  // empty) hears of the outcome before the ticket does.
  [[nodiscard]] Result<Ticket> Begin(Call call, leeway::Done also = {},
                                     std::optional<std::chrono::milliseconds> limit = {});
  // Queues several calls that leave together: all of them, or none.
  [[nodiscard]] Result<std::vector<Ticket>> BeginAll(std::vector<std::pair<Call, leeway::Done>> calls);
  // Queues a call without an outcome; waits at most `limit` (by default wait_max) for room.
  Status Tell(std::function<void(WorkerNode&)> call, std::optional<std::chrono::milliseconds> limit = {});
  // Asks the node behind all queued calls; at once on its own thread. False if it does not answer in time, or
  // has ended. `question` must own all that it uses.
  bool Ask(std::function<void(WorkerNode&)> question,
           std::chrono::milliseconds limit = std::chrono::seconds(1));

  // Names the thing a call waits for; called only if the words are shown.
  using What = std::function<std::string()>;
  // Makes the call and waits for its outcome.
  Status CallAndWait(Call call, const What& what);
  Status CallAndWait(Call call, const std::string& what) {
    return CallAndWait(std::move(call), [&what] { return what; });
  }
  // Waits for the outcome. After a wait that was broken off, the ticket may be waited for again.
  Status Wait(Ticket ticket, const What& what);
  [[nodiscard]] std::optional<Status> Take(Ticket ticket) { return tickets_.Take(ticket); }
  [[nodiscard]] bool Done(Ticket ticket) const { return tickets_.Done(ticket); }

  // Returns whether a thread of the user waits; on the node's thread.
  [[nodiscard]] bool AnyThreadWaits() const {
    return user_waits_.AnyWaits([this](Ticket ticket) { return tickets_.Done(ticket); });
  }
  [[nodiscard]] bool SeveralWaited() const { return user_waits_.SeveralWaited(); }
  // Names what the node waits for.
  [[nodiscard]] std::string WaitingFor();
  // The last wait that reached its limit; ok: none.
  [[nodiscard]] Status gave_up() const;

 private:
  // CallQueue::Node.
  [[nodiscard]] bool OnNodeThread() const override { return node_thread_ == std::this_thread::get_id(); }
  void AskForMakeAll() override {
    thread_->real().Post([this] { queue_.MakeAll(); });
  }
  void BeginCalls() override { node_->BeginCalls(); }
  void EndCalls() override { node_->EndCalls(); }

  // The queued form of a call with a ticket.
  [[nodiscard]] CallQueue::Call Ticketed(Ticket ticket, Call call, leeway::Done also);
  // Makes the call and waits for its outcome, silently; no outcome in time: nullopt.
  [[nodiscard]] std::optional<Status> CallWithin(Call call, std::chrono::milliseconds limit);
  // Logs the cause of a wait once the node has found it.
  void ExplainLongWait(const What& what);
  // Returns whether this worker waits for other workers, as far as servers and scheduler tell. It waits for
  // those as long as the scheduler counts them.
  [[nodiscard]] bool WaitsForMembers();

  const Limits limits_;
  const std::function<bool()> interrupted_;
  Log& log_;
  bool joined_ = false;
  TicketBook tickets_;
  CallQueue queue_;
  UserWaits user_waits_;
  mutable std::mutex gave_up_mutex_;
  Status gave_up_;
  std::atomic<std::thread::id> node_thread_{};
  std::unique_ptr<NodeThread> thread_;
  std::unique_ptr<WorkerNode> node_;  // after thread_: destroyed first, once the thread has stopped
};

}  // namespace leeway
