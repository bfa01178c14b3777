// EmulatedNetwork: machines of a cluster, each a network namespace of its own with one card, behind a bridge
// in one more namespace. Token buckets at both ends of a card's cable limit what it sends and receives.
//
// The namespaces have no names. They live as long as this object or a process inside them, and then the
// kernel removes them with their cards: nothing is left behind, however the program ends.
// REQUIRES, for all calls: the process has no other threads. Linux only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cluster/link_rate.h"
#include "leeway/status.h"
#include "transport/system/descriptor.h"

namespace leeway::bench {

class EmulatedNetwork {
 public:
  static constexpr std::uint32_t kMachinesMax = 64;

  // `rate` limits each direction of each card; without it there is no limit. An error names the missing right
  // or program.
  [[nodiscard]] static Result<std::unique_ptr<EmulatedNetwork>> Make(std::uint32_t machines,
                                                                     std::optional<LinkRate> rate);
  // Moves the calling process, for good, to a machine or to the bridge. For a child.
  [[nodiscard]] Status EnterMachine(std::uint32_t machine) const;
  [[nodiscard]] Status EnterBridge() const;

  // "10.77.0.1": within this network alone.
  [[nodiscard]] static std::string MachineAddress(std::uint32_t machine);
  [[nodiscard]] static std::string BridgeAddress();
  // The name of a machine's card.
  static constexpr const char* kCard = "eth0";

 private:
  [[nodiscard]] Status Connect(std::uint32_t machine, std::optional<LinkRate> rate) const;

  Descriptor bridge_;
  std::vector<Descriptor> machines_;
};

// The path of a program of the system (ip, tc), which may be no word of PATH; an error names its package.
[[nodiscard]] Result<std::string> FindNetworkTool(const std::string& name);

}  // namespace leeway::bench
