#include "process/call_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/renew.h"

namespace leeway {
namespace {

// A caller that is far ahead need not wait until all calls are made.
constexpr std::uint64_t kFreedTogether = 64;

}  // namespace

CallQueue::CallQueue(std::size_t max, CallMaker& maker)
    : max_(std::min(max, kRingMax)),
      fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      maker_(maker),
      cells_(std::bit_ceil(max_)) {
  LW_CHECK(fd_ >= 0, "no eventfd");
}

CallQueue::~CallQueue() { close(fd_); }

Status CallQueue::Push(Call&& call, std::chrono::milliseconds limit) {
  if (closed_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    return why_closed_;
  }
  if (IsOwnThread()) return PushOwn(call);
  if (!TryPush(call)) LW_RETURN_IF_ERROR(WaitForRoom(call, limit));
  WakeIfAsleep();
  return Status::Ok();
}

bool CallQueue::TryPush(Call& call) {
  std::uint64_t position = tail_.load(std::memory_order_relaxed);
  do {
    // The head may be older than the tail: then the ring only looks fuller than it is. A younger head belongs
    // to a tail that has moved since, and the exchange fails.
    const auto used = static_cast<std::int64_t>(position - head_.load(std::memory_order_seq_cst));
    if (used >= static_cast<std::int64_t>(max_)) return false;
  } while (!tail_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed));
  Cell& cell = At(position);
  Renew(cell.call, std::move(call));
  // Sequentially consistent with the loop's announcement that it sleeps: either the loop sees this call, or
  // WakeIfAsleep sees the announcement.
  cell.sequence.store(position + 1, std::memory_order_seq_cst);
  return true;
}

void CallQueue::WakeIfAsleep() {
  if (!sleeping_.load(std::memory_order_seq_cst) || !sleeping_.exchange(false)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));  // cannot fail: the count is small
}

bool CallQueue::IsOwnThread() const {
  return node_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

Status CallQueue::PushOwn(Call& call) {
  // Behind this thread's earlier calls, so that they keep their order.
  if (own_.empty() && TryPush(call)) return Status::Ok();  // it is awake
  if (own_.size() >= max_) {
    return ResourceExhausted("{} calls of the worker's own I/O thread wait for it, at most {} may",
                             own_.size(), max_);
  }
  own_.push_back(std::move(call));
  own_waits_.store(true, std::memory_order_relaxed);
  return Status::Ok();
}

Status CallQueue::WaitForRoom(Call& call, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  room_wanted_.fetch_add(1, std::memory_order_seq_cst);
  bool pushed = false;
  room_.wait_for(lock, limit, [&] {
    pushed = why_closed_.ok() && TryPush(call);
    return pushed || !why_closed_.ok();
  });
  room_wanted_.fetch_sub(1, std::memory_order_relaxed);
  if (pushed) return Status::Ok();
  if (!why_closed_.ok()) return why_closed_;
  return ResourceExhausted(
      "{} calls wait for the worker's I/O thread, at most that many may (waited {} ms for room)", max_,
      limit.count());
}

void CallQueue::OnReadable() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof(count));
}

void CallQueue::FreeBelow(std::uint64_t position) {
  head_.store(position, std::memory_order_seq_cst);
  if (room_wanted_.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(mutex_);
  room_.notify_all();
}

template <typename Take>
void CallQueue::TakeAll(Take take) {
  const std::uint64_t begin = head_.load(std::memory_order_relaxed);
  const std::uint64_t tail = tail_.load(std::memory_order_acquire);
  // The end of the calls filled by now: a call may queue another one, which waits for the next Poll.
  std::uint64_t end = begin;
  while (end != tail && At(end).sequence.load(std::memory_order_acquire) == end + 1) ++end;
  // Calls that this thread has put aside come after all its calls in the ring, and before the one it queues
  // now.
  std::vector<Call> own;
  if (end == tail && !own_.empty()) {
    own.swap(own_);
    own_waits_.store(false, std::memory_order_relaxed);
  }
  for (std::uint64_t head = begin; head != end; ++head) {
    Call& call = At(head).call;
    take(call);
    call.Clear();
    if ((head + 1) % kFreedTogether == 0) FreeBelow(head + 1);
  }
  if (end != begin) FreeBelow(end);
  for (Call& call : own) take(call);
}

void CallQueue::OnRunner(bool here) {
  node_.store(here ? std::this_thread::get_id() : std::thread::id(), std::memory_order_relaxed);
  sleeping_.store(false, std::memory_order_relaxed);
}

bool CallQueue::Poll() {
  bool any = false;
  TakeAll([&](Call& call) {
    if (!std::exchange(any, true)) maker_.BeginCalls();
    maker_.Make(call);
  });
  if (any) maker_.EndCalls();
  return any;
}

bool CallQueue::MaySleep() {
  sleeping_.store(true, std::memory_order_seq_cst);
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  if (own_.empty() && At(head).sequence.load(std::memory_order_seq_cst) != head + 1) return true;
  sleeping_.store(false, std::memory_order_relaxed);
  return false;
}

void CallQueue::Close(const Status& why) {
  {
    const std::lock_guard lock(mutex_);
    if (why_closed_.ok()) why_closed_ = why;
    closed_.store(true, std::memory_order_release);
    room_.notify_all();
  }
  TakeAll([](Call&) {});
  own_.clear();  // also behind a call that its thread never finished queueing
}

}  // namespace leeway
