// ForkGuard: tells a forked child from the process that made the guard, for the price of one load.
//
// The guard's page is one that the kernel hands to children as zeros (MADV_WIPEONFORK). Where it does not,
// every question asks for the process id, as a system call. Any thread.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace leeway {

class ForkGuard {
 public:
  ForkGuard() : pid_(getpid()) {
    void* page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;  // NOLINT: the macro casts
    if (madvise(page, kBytes, MADV_WIPEONFORK) != 0) {
      munmap(page, kBytes);
      return;
    }
    mark_ = static_cast<volatile char*>(page);
    *mark_ = 1;
  }
  ~ForkGuard() {
    if (mark_ != nullptr) munmap(const_cast<char*>(mark_), kBytes);  // NOLINT: munmap takes no volatile
  }
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  [[nodiscard]] bool forked() const { return mark_ != nullptr ? *mark_ == 0 : getpid() != pid_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  static constexpr std::size_t kBytes = 4096;
  const pid_t pid_;
  volatile char* mark_ = nullptr;
};

}  // namespace leeway
