// RunRecorder: makes the record of a job while the launcher runs it: looks at the machine with every status,
// and puts together what the nodes have reported at the end.
//
// One thread, the launcher's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/cpu.h"
#include "calibrate/job_record.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "status/job_status.h"

namespace leeway::app {

// The facts about a run that the launcher knows before it begins.
struct RunToRecord {
  JobOptions job;
  std::string transport;
  std::map<std::uint32_t, double> slow_workers;  // rank -> how many times slower
  ExchangeCosts costs;                           // measured before
};

class RunRecorder {
 public:
  explicit RunRecorder(RunToRecord run) : run_(std::move(run)) {}

  // With every status while the job runs. `servers` and `others` are the job's processes.
  void Look(const JobStatus& status, std::span<const pid_t> servers, std::span<const pid_t> others);
  // At the end, from the scheduler's last status. An error names the missing part.
  [[nodiscard]] Result<JobRecord> Make(const JobStatus& status) const;

 private:
  // Since some moment.
  struct Use {
    bench::MachineTime machine;
    double job_s = 0;  // processor time
  };
  // Processor time of the servers, and the traffic that it served.
  struct Service {
    double cpu_s = 0, bytes = 0, frames = 0;
  };
  void LookAtServers(const JobStatus& status, double cpu_s);
  [[nodiscard]] RecordedHost Host() const;
  [[nodiscard]] ExchangeCosts Costs() const;

  const RunToRecord run_;
  std::optional<Use> first_, last_;  // between them all workers were there
  bool trained_ = false;             // and had begun to train at first_
  // Reports of bytes are up to a beat older than the processor's time. So the two are put together only when
  // every shard has told anew: the same part of a beat is missing from both ends of what lies between.
  std::vector<double> reports_;  // by shard, how many there were at the last such moment
  std::optional<Service> service_first_, service_last_;
};

}  // namespace leeway::app
