// RawJob: the bare socket's two processes, a client and a server.
#pragma once

#include <memory>

#include "leeway/status.h"
#include "raw_socket.h"
#include "turns.h"

namespace leeway::bench {

class RawJob {
 public:
  // Forks: call it before the process has threads.
  [[nodiscard]] static Result<std::unique_ptr<RawJob>> Start(RawKind kind, const Shape& shape,
                                                             CorePlan cores);
  [[nodiscard]] Result<Turn> Run(double seconds) { return RunTogether(clients_, servers_, seconds); }

 private:
  Children servers_, clients_;
};

}  // namespace leeway::bench
