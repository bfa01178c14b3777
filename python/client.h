// Client: the worker of this process, for the binding. Any thread of Python may call it, without Python's
// lock.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "leeway/worker.h"

namespace leeway {

using Address = std::uintptr_t;  // data_ptr() of a tensor

inline std::span<float> Floats(Address address, std::size_t elements) {
  return {reinterpret_cast<float*>(address), elements};  // NOLINT(performance-no-int-to-ptr): data_ptr()
}

// A gradient on loan to the worker, until its pin expires.
struct Loan {
  Ticket ticket = 0;
  std::weak_ptr<const void> pin;
};

// One gradient as Python lends it: table, address, elements, hyper-parameters, samples, and when it was ready
// by time.perf_counter() (infinity: with the call).
using Lent = std::tuple<std::uint32_t, Address, std::size_t, Hyper, std::uint32_t, double>;

class Client {
 public:
  static std::unique_ptr<Client> Join(const std::string& scheduler, const std::string& job, std::int64_t rank,
                                      std::optional<double> wait_max_s, const std::string& transport,
                                      bool record, const std::string& secret_file, bool insecure,
                                      const std::string& trace, const std::string& trace_steps,
                                      const std::vector<std::string>& plugins);
  // Makes a job of this process alone, and joins it.
  static std::unique_ptr<Client> Alone(const std::string& sync, const std::string& apply,
                                       std::uint32_t block_bytes, std::optional<double> wait_max_s,
                                       const std::string& pull, const std::string& exchange,
                                       const std::vector<std::string>& rules,
                                       const std::vector<std::string>& plugins, bool priorities,
                                       const std::string& pull_at);
  ~Client() { Close(); }

  // Ends the worker, as a dead one unless it has left or shut down before. A call in another thread keeps the
  // worker until it returns.
  void Close();

  // Shared: a call keeps the worker while it runs, also when another thread calls Close. Throws in a forked
  // child and after Close.
  [[nodiscard]] std::shared_ptr<Worker> worker();

  // Worker::PushAll: for tables that follow the job's clock, all or none.
  [[nodiscard]] std::vector<Loan> PushAll(const std::vector<Lent>& gradients);
  // Worker::PushPull: for a table with its own clock.
  [[nodiscard]] Loan PushPull(TableId table, std::span<const float> gradient, std::span<float> values,
                              const Hyper& hyper, std::uint32_t samples);

 private:
  struct Life;

  explicit Client(std::shared_ptr<Life> life);
  static std::unique_ptr<Client> Connect(std::shared_ptr<Life> life, WorkerOptions options);

  const pid_t pid_;
  std::mutex mutex_;            // of life_
  std::shared_ptr<Life> life_;  // shared: with the calls that run
};

}  // namespace leeway
