// Poller: the descriptors that one event loop waits on, over epoll.
//
// The kernel keeps watching a descriptor while its handler runs. The poller stops that only if the handler
// does not wait again. So a descriptor that is read and waited on again costs no system call but the wait
// itself. Thread rule: the loop's, but for Wake.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "leeway/env.h"
#include "transport/system/descriptor.h"

namespace leeway {

class Poller {
 public:
  // One descriptor, which stays open until Remove. Each wait is one-shot.
  struct Entry {
    int fd = -1;
    std::function<void()> readable;
    std::function<void()> writable;
    bool read_wanted = false;
    bool write_wanted = false;
    bool gone = false;
    std::uint32_t known = 0;  // what the kernel was asked for
  };

  Poller();
  Poller(const Poller&) = delete;  // the kernel knows where it is
  Poller& operator=(const Poller&) = delete;

  // Sees to it that the kernel tells what `entry` wants.
  void Want(Entry& entry);
  // It is not called any more; its functions live until the current Dispatch, or the next one, is over.
  void Remove(std::unique_ptr<Entry> entry);
  // Sees to it that a wait ends at `when`, or before. Costs nothing while an earlier time is set.
  void WakeBy(TimePoint when);
  // Any thread: ends the wait under way, or the next one.
  void Wake() const;

  // Waits until there is something, or only looks. Then Dispatch.
  void Wait(bool sleep);
  // Calls `turn` with every handler that the last Wait has found due; it may remove any.
  template <typename Turn>
  bool Dispatch(Turn turn) {
    bool any = false;
    for (const Ready& ready : ready_) {
      Entry& entry = *ready.entry;
      if (ready.read && !entry.gone && std::exchange(entry.read_wanted, false)) {
        any = true;
        turn(entry.readable);
      }
      if (ready.write && !entry.gone && std::exchange(entry.write_wanted, false)) {
        any = true;
        turn(entry.writable);
      }
      if (!entry.gone) Settle(entry);
    }
    ready_.clear();
    if (!gone_.empty()) const std::vector<std::unique_ptr<Entry>> gone = std::exchange(gone_, {});
    return any;
  }
  // Whether a Wait has found that a time of WakeBy has come; once.
  [[nodiscard]] bool TakeTimeFound() { return std::exchange(time_found_, false); }

 private:
  struct Ready {
    Entry* entry;
    bool read;
    bool write;
  };
  // After its handlers: stops watching an event that nobody waits for, which would end every wait.
  void Settle(Entry& entry);
  void Tell(Entry& entry, std::uint32_t events);
  void WatchOwn(const Descriptor& descriptor);

  const Descriptor epoll_;
  const Descriptor wake_;   // an eventfd
  const Descriptor timer_;  // a timerfd
  std::optional<TimePoint> armed_;
  bool time_found_ = false;
  std::vector<Ready> ready_;
  std::vector<std::unique_ptr<Entry>> gone_;
};

}  // namespace leeway
