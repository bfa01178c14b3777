#include "transport/loop/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/check.h"

namespace leeway {
namespace {

// Descriptors that one wait tells of: those who hand in work, and those who wait for it, have their turn as
// well.
constexpr int kReadyMax = 16;
// The next system call on the descriptor tells which. The kernel tells of these without being asked.
constexpr std::uint32_t kTrouble = EPOLLERR | EPOLLHUP;

std::uint32_t WantedOf(const Poller::Entry& entry) {
  return (entry.read_wanted ? EPOLLIN : 0U) | (entry.write_wanted ? EPOLLOUT : 0U);
}

// An eventfd or a timerfd is silent once it was read, whatever it says.
void Drain(const Descriptor& descriptor) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = read(descriptor.fd(), &count, sizeof count);
}

}  // namespace

Poller::Poller()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  LW_CHECK(epoll_.fd() >= 0 && wake_.fd() >= 0 && timer_.fd() >= 0, "no descriptors for an event loop: {}",
           ErrnoText(errno));
  WatchOwn(wake_);
  WatchOwn(timer_);
}

void Poller::WatchOwn(const Descriptor& descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = const_cast<Descriptor*>(&descriptor);
  LW_CHECK(epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, descriptor.fd(), &event) == 0, "epoll: {}",
           ErrnoText(errno));
}

void Poller::Tell(Entry& entry, std::uint32_t events) {
  if (events == entry.known) return;
  // One of which nothing is wanted is not watched at all: its troubles would end every wait.
  const int operation = entry.known == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  epoll_event event{};
  event.events = events;
  event.data.ptr = &entry;
  LW_CHECK(epoll_ctl(epoll_.fd(), operation, entry.fd, &event) == 0, "epoll cannot watch descriptor {}: {}",
           entry.fd, ErrnoText(errno));
  entry.known = events;
}

void Poller::Want(Entry& entry) { Tell(entry, entry.known | WantedOf(entry)); }

void Poller::Settle(Entry& entry) { Tell(entry, WantedOf(entry)); }

void Poller::Remove(std::unique_ptr<Entry> entry) {
  Tell(*entry, 0);
  entry->gone = true;
  gone_.push_back(std::move(entry));
}

void Poller::WakeBy(TimePoint when) {
  if (armed_ && *armed_ <= when) return;
  armed_ = when;
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch());
  const std::int64_t ns = std::max<std::int64_t>(since.count(), 1);  // 0 would switch it off
  itimerspec at{};
  at.it_value.tv_sec = ns / 1'000'000'000;
  at.it_value.tv_nsec = ns % 1'000'000'000;
  LW_CHECK(timerfd_settime(timer_.fd(), TFD_TIMER_ABSTIME, &at, nullptr) == 0, "timerfd: {}",
           ErrnoText(errno));
}

void Poller::Wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_.fd(), &one, sizeof one);
}

void Poller::Wait(bool sleep) {
  std::array<epoll_event, kReadyMax> found;
  const int count = epoll_wait(epoll_.fd(), found.data(), kReadyMax, sleep ? -1 : 0);
  LW_CHECK(count >= 0 || errno == EINTR, "epoll_wait: {}", ErrnoText(errno));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = found[static_cast<std::size_t>(i)];
    if (event.data.ptr == &wake_) {
      Drain(wake_);
    } else if (event.data.ptr == &timer_) {
      Drain(timer_);
      armed_.reset();
      time_found_ = true;
    } else {
      const bool trouble = (event.events & kTrouble) != 0;
      ready_.push_back({static_cast<Entry*>(event.data.ptr), trouble || (event.events & EPOLLIN) != 0,
                        trouble || (event.events & EPOLLOUT) != 0});
    }
  }
}

}  // namespace leeway
