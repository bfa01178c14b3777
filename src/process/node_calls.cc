#include "process/node_calls.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "base/errors.h"

namespace leeway {
namespace {

// Longer than any wait.
constexpr std::chrono::hours kForever{100 * 24};
// The longest time for peers to explain a wait; the node gives each of them less.
constexpr std::chrono::seconds kExplainLimit{5};

// A caller that is so far ahead loses nothing by waiting for room, and a node that makes so many calls in one
// turn still hears its peers in time.
constexpr std::size_t kQueuedMax = 1024;

}  // namespace

NodeCalls::NodeCalls(const Limits& limits, std::function<bool()> interrupted, Log& log)
    : limits_(limits),
      interrupted_(std::move(interrupted)),
      log_(log),
      tickets_(limits.queue_max),
      queue_(std::min(limits.queue_max, kQueuedMax), *this) {}

void NodeCalls::Start(Carrier carrier, const std::function<std::unique_ptr<WorkerNode>(Env&)>& make) {
  thread_ = std::make_unique<NodeThread>(log_, /*bind_any=*/false, carrier);
  const bool made = thread_->Call([&] {
    node_thread_ = std::this_thread::get_id();
    thread_->real().SetPassEnd([this] { tickets_.WakeFinished(); });
    node_ = make(thread_->env());
  });
  LW_CHECK(made, "the worker's thread does not run");
}

void NodeCalls::Stop(const Status& why) {
  thread_->Stop();
  queue_.Close(why);
  // A thread that waits for a ticket may overwrite the gradient that it lent as soon as the ticket has an
  // outcome. So the connections close first, which tells the servers that a gradient they have not read yet
  // is no longer one.
  node_.reset();
  thread_.reset();
  tickets_.FinishAll(why);
}

CallQueue::Call NodeCalls::Ticketed(Ticket ticket, Call call, leeway::Done also) {
  return [this, ticket, call = std::move(call), also = std::move(also)] {
    call(*node_, [this, ticket, also](const Status& outcome) {
      if (also) also(outcome);
      tickets_.Finish(ticket, outcome);
    });
  };
}

Result<Ticket> NodeCalls::Begin(Call call, leeway::Done also,
                                std::optional<std::chrono::milliseconds> limit) {
  const Ticket ticket = tickets_.New();
  const Status queued =
      queue_.Push(Ticketed(ticket, std::move(call), std::move(also)), limit.value_or(limits_.wait_max));
  if (queued.ok()) return ticket;
  tickets_.Drop(ticket);
  return queued;
}

Result<std::vector<Ticket>> NodeCalls::BeginAll(std::vector<std::pair<Call, leeway::Done>> calls) {
  std::vector<Ticket> tickets;
  std::vector<CallQueue::Call> ticketed;
  for (auto& [call, also] : calls) {
    tickets.push_back(tickets_.New());
    ticketed.push_back(Ticketed(tickets.back(), std::move(call), std::move(also)));
  }
  const Status queued = queue_.Push(
      [ticketed = std::move(ticketed)] {
        for (const CallQueue::Call& call : ticketed) call();
      },
      limits_.wait_max);
  if (queued.ok()) return tickets;
  for (const Ticket ticket : tickets) tickets_.Drop(ticket);
  return queued;
}

Status NodeCalls::Tell(std::function<void(WorkerNode&)> call,
                       std::optional<std::chrono::milliseconds> limit) {
  return queue_.Push([this, call = std::move(call)] { call(*node_); }, limit.value_or(limits_.wait_max));
}

std::optional<Status> NodeCalls::CallWithin(Call call, std::chrono::milliseconds limit) {
  const Result<Ticket> ticket = Begin(std::move(call), {}, limit);
  if (!ticket.ok()) return ticket.status();
  std::optional<Status> outcome = tickets_.Wait(*ticket, {kForever, limit}, [] {});
  if (!outcome) tickets_.Forget(*ticket);
  return outcome;
}

bool NodeCalls::Ask(std::function<void(WorkerNode&)> question, std::chrono::milliseconds limit) {
  if (OnNodeThread()) {
    question(*node_);
    return true;
  }
  const std::optional<Status> answered = CallWithin(
      [question = std::move(question)](WorkerNode& node, const leeway::Done& done) {
        question(node);
        done(Status::Ok());
      },
      limit);
  return answered && answered->ok();
}

Status NodeCalls::CallAndWait(Call call, const What& what) {
  LW_ASSIGN_OR_RETURN(const Ticket ticket, Begin(std::move(call)));
  Status outcome = Wait(ticket, what);
  tickets_.Forget(ticket);  // no other thread knows it
  return outcome;
}

void NodeCalls::ExplainLongWait(const What& what) {
  // The node's thread reports the cause when it has found it: this thread continues as soon as it may.
  auto tell = [this, what = what()](const std::string& why, bool) {
    log_.Write(LogLevel::kWarning,
               fmt::format("{}: has waited {:.1f} s for {}", what,
                           std::chrono::duration<double>(limits_.stall_warn).count(), why));
  };
  const auto no_wait = std::chrono::milliseconds(0);
  const Status asked = Tell([tell](WorkerNode& node) { node.ExplainWait(tell); }, no_wait);
  if (!asked.ok()) tell(asked.message(), false);
}

Status NodeCalls::Wait(Ticket ticket, const What& what) {
  bool interrupted = false;
  std::function<bool()> stop;
  if (interrupted_) stop = [&] { return interrupted = interrupted_(); };
  TicketBook::Limits limits{limits_.stall_warn, limits_.wait_max};
  std::optional<Status> outcome;
  user_waits_.Enter(ticket, /*trains=*/joined_);
  do {
    outcome = tickets_.Wait(
        ticket, limits, [&] { ExplainLongWait(what); }, stop);
    limits.warn_after = kForever;  // once is enough: the scheduler goes on to name the awaited member
  } while (!outcome && !interrupted && WaitsForMembers());
  user_waits_.Leave();
  if (!outcome && !interrupted && tickets_.Done(ticket)) outcome = tickets_.Take(ticket);
  if (outcome) return *std::move(outcome);
  if (interrupted) return Cancelled("{}: interrupted", what());
  Status gave_up = DeadlineExceeded("{}: gave up after {:.1f} s (wait_max); still waiting for {}", what(),
                                    std::chrono::duration<double>(limits_.wait_max).count(), WaitingFor());
  const std::lock_guard lock(gave_up_mutex_);
  gave_up_ = gave_up;
  return gave_up;
}

bool NodeCalls::WaitsForMembers() {
  const auto members = std::make_shared<std::atomic<bool>>(false);  // shared: the answer may come too late
  (void)CallWithin(
      [members](WorkerNode& node, const leeway::Done& done) {
        node.ExplainWait([members, done](const std::string&, bool for_members) {
          *members = for_members;
          done(Status::Ok());
        });
      },
      kExplainLimit);
  return *members;
}

std::string NodeCalls::WaitingFor() {
  auto text = std::make_shared<std::string>();  // shared: the question may outlive this call
  if (Ask([text](WorkerNode& node) { *text = node.WaitingFor(); })) return *text;
  return "the worker's own I/O thread, which does not answer";
}

Status NodeCalls::gave_up() const {
  const std::lock_guard lock(gave_up_mutex_);
  return gave_up_;
}

}  // namespace leeway
