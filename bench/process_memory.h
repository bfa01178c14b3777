// Memory and open descriptors of a process, from /proc. Linux only.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "leeway/status.h"

namespace leeway::bench {

struct ProcessMemory {
  double anon_kib = 0;   // RssAnon: heap and stacks
  double shmem_kib = 0;  // RssShmem: shared memory, the process's own and what it has mapped of others
  double descriptors = 0;
};

// An error when the process is gone.
[[nodiscard]] Result<ProcessMemory> MemoryOf(pid_t process);

}  // namespace leeway::bench
