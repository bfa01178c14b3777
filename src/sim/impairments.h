// Impairments: paths between hosts that stall or are slow, and hosts that refuse connects, each for a while.
//
// The fault plan sets them, the network asks. A watcher hears of the first traffic that meets a fault.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "sim/link_model.h"

namespace leeway::sim {

using FaultId = StrongInt<struct FaultTag, std::uint64_t>;  // names one fault of the plan; 0 is no fault

// The events that the fault plan waits for. They come during an event of the queue, and may call the faults.
class NetworkWatcher {
 public:
  virtual ~NetworkWatcher() = default;
  // A stall, slowness or refusal met its first traffic.
  virtual void OnFaultMet(FaultId fault) = 0;
  // Bytes have left on a connection that is up both ways; `verdict`: a frame with verdicts is under way
  // there.
  virtual void OnLeft(std::uint64_t connection, bool verdict) = 0;
};

class Impairments {
 public:
  // Null: nobody is told.
  void Watch(NetworkWatcher* watcher) { watcher_ = watcher; }

  // Bytes and connects from `from` to `to` stall until `until`.
  void Stall(HostId from, HostId to, Duration until, FaultId fault);
  // Bytes that leave before `until` take `extra` longer.
  void Slow(HostId from, HostId to, Duration extra, Duration until, FaultId fault);
  // Connects to `host` are refused until `until`.
  void Refuse(HostId host, Duration until, FaultId fault);

  // When the stall of the path ends; zero if the path does not stall. This and the next two mark the fault as
  // met.
  [[nodiscard]] Duration StalledUntil(HostId from, HostId to, Duration now);
  [[nodiscard]] Duration ExtraDelay(HostId from, HostId to, Duration now);
  [[nodiscard]] bool IsRefused(HostId host, Duration now);

 private:
  struct Impairment {
    Duration until{};
    Duration extra{};
    FaultId fault;
    bool met = false;
  };
  using Path = std::pair<HostId, HostId>;

  // The impairment of `key`, if it has one now, else null. Traffic has met it.
  template <typename Key>
  const Impairment* Meet(std::map<Key, Impairment>& impairments, const Key& key, Duration now);

  NetworkWatcher* watcher_ = nullptr;
  std::map<Path, Impairment> stalls_;
  std::map<Path, Impairment> slow_;
  std::map<HostId, Impairment> refusals_;
};

}  // namespace leeway::sim
