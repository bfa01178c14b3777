// Leeway's side of the push/pull bench: a scheduler and a server in one process, a worker in the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "child.h"
#include "leeway/status.h"
#include "leeway/worker.h"

namespace leeway::bench {

struct PeerShape {
  std::size_t block_bytes = 0;
  std::size_t blocks = 0;
  std::size_t in_flight = 0;
};

// Runs scheduler and server until the job ends; tells the scheduler's address. An exit code.
int ServeLeeway(const PeerShape& shape, const Child::Tell& tell);

// A worker with one table of one block per block of the bench: pushes add, pulls copy out.
class LeewayClient {
 public:
  [[nodiscard]] static Result<std::unique_ptr<LeewayClient>> Join(const std::string& scheduler,
                                                                  const PeerShape& shape);

  // Keeps in_flight pairs under way for `seconds`, then waits for the last. Adds to `latencies_us`; returns
  // the pairs.
  [[nodiscard]] Result<std::uint64_t> Run(double seconds, std::vector<float>& latencies_us);
  // Pulls every block and checks that it holds exactly what was pushed; then leaves the job.
  [[nodiscard]] Status CheckAndLeave();

 private:
  struct Pair {
    Ticket push = 0;
    Ticket pull = 0;
    double began_us = 0;
  };

  explicit LeewayClient(const PeerShape& shape);
  [[nodiscard]] Status Start(const std::string& scheduler);
  [[nodiscard]] Status Begin(std::uint64_t n);
  [[nodiscard]] Status Finish(std::uint64_t n, std::vector<float>& latencies_us);
  [[nodiscard]] std::span<float> ValuesOf(std::uint64_t n);

  const PeerShape shape_;
  const std::size_t elements_;
  std::vector<float> gradients_;  // the working set, one way
  std::vector<float> values_;     // and the other
  std::vector<TableId> tables_;
  std::vector<Pair> pairs_;
  std::uint64_t begun_ = 0, finished_ = 0;
  std::unique_ptr<Worker> worker_;  // last: its I/O thread uses the buffers
};

}  // namespace leeway::bench
