// Scenario: every input of a simulated training job. The same scenario and seed give the same run.
//
// docs/simulator.md lists the limits of the models of compute, links and servers; scenario files
// (apps/leeway/simulate/) use the same words.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assembly/policies.h"
#include "leeway/optimizer.h"
#include "leeway/options.h"

namespace leeway::scenario {

// The compute time of one gradient of one worker:
//   (base + batch x per sample) x its own factor x (lognormal of this iteration) x (tail of it) x (slow
//   phase)
struct ComputeModel {
  double base_s = 0.1;
  double per_sample_s = 0;   // of the problem's batch, beside the base
  double spread = 0;         // sigma of the lognormal factor of each iteration; its median is 1
  double heterogeneity = 0;  // sigma of the lognormal factor that a worker keeps; its median is 1
  // Further factors of single ranks.
  std::vector<std::pair<std::uint32_t, double>> factors = {};
  // In a share of the iterations a factor with a Pareto tail applies: above x with chance x^-alpha.
  double tail_chance = 0;
  double tail_alpha = 2;
  double tail_max = 100;
  // Slow phases begin with this chance in each iteration, last so many iterations on average, and multiply.
  double phase_chance = 0;
  double phase_iterations = 10;
  double phase_factor = 1;
  // The part of the time in which gradients become ready, table by table from the last; 0: all at its end.
  double backward_share = 0;
  // The first part of the time, in which the forward pass uses the tables one after the other. Each waits for
  // its own values alone. Then both passes divide by multiply-adds (docs/problems.md). 0: the worker needs
  // all values before it computes, and the backward pass divides by elements.
  double forward_share = 0;
  // Times measured on a real run, rank by rank, in units of base_s; a rank beyond the list takes another
  // rank's times. Drawn one by one, so the correlation of slow iterations is lost. Empty: not measured.
  std::vector<std::vector<float>> samples = {};
  // Also measured: the share of the compute time after which each table's gradient is ready. Empty: by
  // backward_share.
  std::vector<double> ready = {};
  double elsewhere_s = 0;  // of each iteration that needs no core: a GPU's part, a disk's
  // Ranks that sleep after computing and pushing, until the iteration has taken so many times as long, as
  // `leeway run --slow-worker` does.
  std::vector<std::pair<std::uint32_t, double>> slowed = {};
};

// This share of a server's answers with parameters, per worker and iteration, takes so much longer.
struct AnswerDelay {
  double chance = 0;
  double seconds = 0;
};

struct LinkModel {
  double latency_s = 50e-6;                // one way
  double worker_bytes_per_second = 125e6;  // each direction of a worker's card
  double server_bytes_per_second = 125e6;  // ... of a server's
};

// The work of one shard for its messages, one after the other.
struct ServerModel {
  double per_message_s = 0;
  double per_byte_s = 0;  // of gradients that it gets and of parameters that it sends
  // Factors of single servers on both: above 1 for a slow one.
  std::vector<std::pair<std::uint32_t, double>> factors = {};
};

// Processes that die and links that are cut. With a plan or checkpoints, nodes have the beats of a real job,
// and its limits on silence and waits.
struct FaultModel {
  std::vector<std::string> plan = {};  // disturbance.h has the words
  // A process that ends because of a fault starts again after so long; infinite: never.
  double restart_s = 0.5;
  double expel_after_s = 10;           // the scheduler declares a member dead that is silent this long
  std::uint64_t checkpoint_every = 0;  // iterations between checkpoints; 0: none
};

// The work that nodes do beside their loops: jobs of Compute.
struct JobModel {
  double encode_per_byte_s = 0;  // of values that are encoded, to be sent or kept
  double decode_per_byte_s = 0;  // ... that are decoded
  double job_s = 0;              // of each job
};

// The learning rate: `rate`, times `factor` from each of the iterations `at` on.
struct RateSchedule {
  double rate = 0.1;
  double factor = 0.1;
  std::vector<std::uint64_t> at = {};
};

// The data of a run to keep for pictures.
struct Recording {
  // Iterations between judgements, of the workers that still train, on average; 0: at the end only.
  std::uint64_t judge_every = 0;
  double timeline_from_s = 0;  // what every worker does when, in this window
  double timeline_s = 0;
  std::uint32_t map_columns = 60;  // of the map: worker against time
};

struct Scenario {
  std::string name = "scenario";
  JobOptions job;  // workers, servers, shards, policies, block_bytes; its seed is that of the run
  // The cores that all workers and servers share, as processes of one host; 0: each has one of its own.
  double cores = 0;
  // Worker i and server i are on one machine and share its card; without a partner either has its own.
  bool together = false;
  ComputeModel compute;
  AnswerDelay answer_delay;
  LinkModel links;
  ServerModel server;
  std::vector<std::string> switches = {};  // of models while the job runs; sync_switches.h has the words
  std::vector<std::string> changes = {};   // of speeds while the job runs; disturbance.h has the words
  FaultModel faults;
  JobModel jobs;
  std::string problem = "quadratic";
  std::string optimizer = "sgd";
  Hyper hyper;  // its lr is that of `rate`
  RateSchedule rate;
  std::uint64_t iterations = 100;  // of every worker
  // The iterations of all workers together: each worker draws its next one, as from a BatchPool. 0:
  // `iterations` of each.
  std::uint64_t pool = 0;
  double seconds_max =
      std::numeric_limits<double>::infinity();  // simulated; a job that is not done is stopped
  Recording recording;
  Policies policies = Policies::Builtin();  // what the names in `job` and `optimizer` mean
  // Where a user set each key: "uneven.toml line 7". For messages only.
  std::map<std::string, std::string> said_at = {};
};

// The name of a key in a message: "uneven.toml line 7: policies.sync", or with the scenario's name if no user
// set it.
[[nodiscard]] inline std::string KeyWithPlace(const Scenario& scenario, const std::string& key) {
  const auto found = scenario.said_at.find(key);
  return (found == scenario.said_at.end() ? scenario.name : found->second) + ": " + key;
}

}  // namespace leeway::scenario
