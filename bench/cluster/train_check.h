// CheckTrain: what of an emulated cluster this host can give, measured in a few seconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cluster/network_probe.h"
#include "bench/cluster/train.h"

namespace leeway::bench {

struct TrainCheck {
  std::string ip, tc;       // the paths of the programs; empty: they are not there
  Status network;           // whether namespaces, cards and token buckets can be made
  std::string cpu_quotas;   // "cgroup v1", "cgroup v2", or empty: processes cannot be slowed by a quota
  std::uint32_t cards = 0;  // that sent to each other in both probes
  std::optional<ProbeReport> unlimited;  // without token buckets
  std::optional<ProbeReport> wanted;     // at the rate of the options
  Status rate;  // whether the rate can be emulated; not known if `network` is an error
  TrainOptions options;
  [[nodiscard]] bool ok() const { return network.ok() && rate.ok(); }
};

// REQUIRES: the process has no other threads.
[[nodiscard]] TrainCheck CheckTrain(const TrainOptions& options);
[[nodiscard]] std::string ToJson(const TrainCheck& check);
[[nodiscard]] std::string ToText(const TrainCheck& check);

}  // namespace leeway::bench
