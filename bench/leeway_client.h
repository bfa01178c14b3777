// A worker of the bench: one table of one block per block of its shape; pushes add, pulls copy out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "latency_histogram.h"
#include "leeway/status.h"
#include "leeway/worker.h"
#include "shape.h"

namespace leeway::bench {

struct ClientOptions {
  std::string scheduler;
  std::string secret;
  std::string transport = "auto";
  Shape shape;
  bool pulls = true;  // false: a pair is a push with its verdict alone
  // Workers begin at different blocks, so that they do not crowd before one of them.
  std::uint32_t index = 0, workers = 1;
};

// At which block worker `index` of `workers` begins.
[[nodiscard]] std::uint64_t FirstBlock(std::uint64_t blocks, std::uint32_t index, std::uint32_t workers);
// How often a worker that began at `first` and did `pairs`, one block after the other, pushed to `block`.
[[nodiscard]] std::uint64_t PushesTo(std::uint64_t block, std::uint64_t blocks, std::uint64_t first,
                                     std::uint64_t pairs);

class LeewayClient {
 public:
  [[nodiscard]] static Result<std::unique_ptr<LeewayClient>> Join(const ClientOptions& options);

  // Keeps in_flight pairs under way for `seconds`, then waits for the last. Notes how long they took; returns
  // the pairs.
  [[nodiscard]] Result<std::uint64_t> Run(double seconds, LatencyHistogram& latency);
  [[nodiscard]] std::uint64_t pairs() const { return finished_; }
  // Pulls every block and checks that it holds exactly what was pushed, by workers that did so many pairs.
  // REQUIRES: all of them rest.
  [[nodiscard]] Status Check(std::span<const std::uint64_t> pairs);
  [[nodiscard]] Status Leave() { return worker_->Shutdown(); }

 private:
  struct Pair {
    Ticket ticket = 0;
    std::uint64_t began_ns = 0;
  };

  explicit LeewayClient(const ClientOptions& options);
  [[nodiscard]] Status Start();
  // These two define one pair: a faster way to ask for it changes only them.
  [[nodiscard]] Status Begin(std::uint64_t n);
  [[nodiscard]] Status Finish(std::uint64_t n, LatencyHistogram& latency);
  [[nodiscard]] std::span<float> Of(const std::shared_ptr<float>& memory, std::uint64_t block) const {
    return {memory.get() + block * elements_, elements_};
  }

  const ClientOptions options_;
  const Shape shape_;
  const std::size_t elements_;
  const std::uint64_t first_;
  std::vector<TableId> tables_;
  std::vector<Pair> pairs_;
  std::uint64_t begun_ = 0, finished_ = 0;
  std::shared_ptr<float> gradients_, values_;  // the working set one way, and the other; the worker's memory
  std::unique_ptr<Worker> worker_;             // last: its I/O thread uses the buffers
};

}  // namespace leeway::bench
