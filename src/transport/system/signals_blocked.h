// SignalsBlocked: while it lives, the calling thread takes no signals, and neither does a thread that it
// makes, ever. Signals belong to the threads of the program, not to those of a node.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace leeway {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace leeway
