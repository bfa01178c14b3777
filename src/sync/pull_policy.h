// PullPolicy: whether a worker waits for all blocks of a table before it uses it (design, section 5).
//
//   full        partial:0.9,50,skip_max=2,late_pull=drop
//
// `partial` goes on once a share b of all the model's blocks is here and tau has passed since (PSP-SGD,
// Algorithm 1, worker). Parsed once by the worker node; a plain value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/env.h"
#include "leeway/status.h"

namespace leeway {

struct PullPolicy {
  enum class Late : std::uint8_t {
    kTake,  // an answer that its iteration did not wait for is used by the next one, if newer
    kDrop,  // is thrown away, as in the paper
  };
  bool partial = false;
  double share_min = 1.0;     // b: of all blocks of the model, in this iteration
  Duration tau{0};            // after the share is reached
  std::int64_t skip_max = 2;  // so many iterations running may use a block without a newer version
  Late late = Late::kTake;
  friend bool operator==(const PullPolicy&, const PullPolicy&) = default;
};

[[nodiscard]] Result<PullPolicy> ParsePullPolicy(std::string_view spec);
// Parsing it gives an equal policy.
[[nodiscard]] std::string ToText(const PullPolicy& policy);

}  // namespace leeway
