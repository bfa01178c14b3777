// PullPolicy: decides whether a worker waits for all blocks of a table before it uses the table.
//
//   full        partial:0.9,50,skip_max=2,late_pull=drop        ... late_pull=withdraw
//
// `partial` continues once a share b of all the model's blocks is here and tau has passed since (PSP-SGD,
// Algorithm 1, worker). The worker node parses it once; a plain value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/env.h"
#include "leeway/status.h"

namespace leeway {

struct PullPolicy {
  enum class Late : std::uint8_t {
    kTake,  // the next iteration uses an answer that its iteration did not wait for, if newer
    kDrop,  // the worker throws such an answer away, as in the paper
    // As kDrop, and a server does not send an answer that has not left when the worker asks for a newer one.
    kWithdraw,
  };
  bool partial = false;
  double share_min = 1.0;     // b: of all blocks of the model, in this iteration
  Duration tau{0};            // after the share is reached
  std::int64_t skip_max = 2;  // so many iterations in a row may use a block without a newer version
  Late late = Late::kTake;
  friend bool operator==(const PullPolicy&, const PullPolicy&) = default;
};

[[nodiscard]] Result<PullPolicy> ParsePullPolicy(std::string_view spec);
// Parsing it gives an equal policy.
[[nodiscard]] std::string ToText(const PullPolicy& policy);

}  // namespace leeway
