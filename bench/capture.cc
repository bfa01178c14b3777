#include "capture.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/errors.h"
#include "child.h"
#include "transport/system/descriptor.h"

namespace leeway::bench {

Result<Captured> Capture(const std::function<int()>& run) {
  int ends[2] = {-1, -1};
  // Buffered output would be written twice.
  std::fflush(nullptr);
  if (pipe2(ends, O_CLOEXEC) != 0) return ResourceExhausted("cannot make a pipe: {}", std::strerror(errno));
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const pid_t child = ForkBound();
  if (child < 0) return ResourceExhausted("cannot start a process: {}", std::strerror(errno));
  if (child == 0) {
    if (dup2(write_end.fd(), STDOUT_FILENO) < 0) _exit(1);
    const int code = run();
    std::fflush(nullptr);
    _exit(code);
  }
  write_end = Descriptor();
  Captured captured;
  char bytes[4096];
  while (true) {
    const ssize_t n = read(read_end.fd(), bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    captured.out.append(bytes, static_cast<std::size_t>(n));
  }
  captured.exit_code = WaitForExit(child);
  return captured;
}

}  // namespace leeway::bench
