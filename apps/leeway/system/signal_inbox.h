// SignalInbox: signals as something to read, so that no code runs inside a signal handler.
#pragma once

#include <csignal>
#include <initializer_list>
#include <optional>

#include "leeway/status.h"
#include "transport/system/descriptor.h"

namespace leeway::app {

class SignalInbox {
 public:
  // Blocks the signals in the calling thread; threads started after it inherit that. A signal that this
  // process ignores (started by `nohup`, or in the background by a script) stays ignored: blocked, it would
  // be queued all the same. REQUIRES: made before any thread, and at most one at a time.
  static Result<SignalInbox> Open(std::initializer_list<int> signals);
  ~SignalInbox();
  SignalInbox(SignalInbox&&) = default;
  SignalInbox& operator=(SignalInbox&&) = delete;

  [[nodiscard]] int fd() const { return fd_.fd(); }
  // The next signal that came; nothing when none is left. Never blocks.
  [[nodiscard]] std::optional<int> Next();
  // Signals stay blocked when it goes: what there was to do is done, and one that comes too late would end
  // the process with another code than what it did deserves.
  void StayBlocked() { stay_blocked_ = true; }
  // Readable while one of these waits in the inbox; not to be read from. REQUIRES: an inbox with them is
  // open.
  [[nodiscard]] static Result<Descriptor> Watch(std::initializer_list<int> signals);
  // The mask before this inbox: what a child is started with.
  [[nodiscard]] const sigset_t& outer_mask() const { return outer_; }

 private:
  SignalInbox(Descriptor fd, sigset_t outer) : fd_(std::move(fd)), outer_(outer) {}

  Descriptor fd_;
  sigset_t outer_;
  bool stay_blocked_ = false;
};

}  // namespace leeway::app
