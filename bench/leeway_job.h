// LeewayJob: a job of the bench, each of its workers and servers a process of its own on a core of its own
// choice. The scheduler is in the process of the first server.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway_client.h"
#include "shape.h"
#include "turns.h"

namespace leeway::bench {

// Scheduler and servers of a job.
class ServerProcesses {
 public:
  // `pin` is called in each, with its number. Forks: call it before the process has threads.
  [[nodiscard]] static Result<ServerProcesses> Start(const JobOptions& job, const std::string& transport,
                                                     const std::function<void(std::uint32_t)>& pin);
  [[nodiscard]] const std::string& scheduler() const { return scheduler_; }
  [[nodiscard]] const std::string& secret() const { return secret_; }
  [[nodiscard]] const Children& children() const { return children_; }

 private:
  std::string scheduler_;  // its address
  std::string secret_;
  Children children_;
};

struct LeewayJobOptions {
  std::string transport = "auto";
  Shape shape;
  bool pulls = true;
  std::uint32_t workers = 1, servers = 1;
  CorePlan cores = CorePlan::kTwo;
};

class LeewayJob {
 public:
  // Forks: call it before the process has threads.
  [[nodiscard]] static Result<std::unique_ptr<LeewayJob>> Start(const LeewayJobOptions& options);
  [[nodiscard]] Result<Turn> Run(double seconds) {
    return RunTogether(clients_, servers_.children(), seconds);
  }
  // The processor time of the first worker while it is connected and idle, in percent of a core.
  [[nodiscard]] double IdleCpuPercent(std::chrono::milliseconds time) const;
  // Every worker checks that every block holds exactly what all of them pushed, and leaves.
  [[nodiscard]] Status CheckAndEnd();

 private:
  ServerProcesses servers_;
  Children clients_;
};

}  // namespace leeway::bench
