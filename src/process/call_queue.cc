#include "process/call_queue.h"

#include <utility>

#include "base/errors.h"

namespace leeway {

Status CallQueue::Push(Call call, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (!why_closed_.ok()) return why_closed_;
  const bool own = node_.OnNodeThread();
  const std::size_t max = own ? 2 * max_ : max_;
  const auto has_room = [&] { return !why_closed_.ok() || calls_.size() < max; };
  if (!has_room() && !own) room_.wait_for(lock, limit, has_room);
  if (!why_closed_.ok()) return why_closed_;
  if (calls_.size() >= max) {
    return ResourceExhausted(
        "{} calls wait for the worker's I/O thread, at most that many may (waited {} ms for room)", max,
        own ? 0 : limit.count());
  }
  calls_.push_back(std::move(call));
  if (calls_.size() == 1) node_.AskForMakeAll();
  return Status::Ok();
}

void CallQueue::MakeAll() {
  std::vector<Call> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(calls_);
    room_.notify_all();
  }
  if (calls.empty()) return;
  node_.BeginCalls();
  for (Call& call : calls) {
    call();
    call = nullptr;  // releases what it holds before the next one
  }
  node_.EndCalls();
}

void CallQueue::Close(const Status& why) {
  std::vector<Call> dropped;  // what they hold is released without the lock
  const std::lock_guard lock(mutex_);
  if (why_closed_.ok()) why_closed_ = why;
  dropped.swap(calls_);
  room_.notify_all();
}

}  // namespace leeway
