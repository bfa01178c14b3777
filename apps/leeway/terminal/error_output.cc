#include "terminal/error_output.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/errors.h"

namespace leeway::app {

void WriteError(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

Status FlushOutput() {
  if (std::fflush(stdout) == 0 || errno == EPIPE) return Status::Ok();
  return ResourceExhausted("cannot write standard output: {}", std::generic_category().message(errno));
}

}  // namespace leeway::app
