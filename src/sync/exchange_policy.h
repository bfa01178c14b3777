// ExchangePolicy: chooses the iterations in which a worker exchanges a table with its servers.
//
//   every:1        every:k        when_stale:s        significant:t
//
// In the other iterations the worker adds its gradients up, and is absent. The worker node parses it once; a
// plain value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/status.h"

namespace leeway {

struct ExchangePolicy {
  enum class Kind : std::uint8_t {
    kEvery,        // in iterations k - 1, 2k - 1, ...
    kWhenStale,    // when the worker's values are of a v_train more than s iterations behind its own
    kSignificant,  // when |g| / |w| of the added-up gradients is above t
  };
  Kind kind = Kind::kEvery;
  std::int64_t every = 1;         // k of kEvery
  std::int64_t stale_max = 0;     // s of kWhenStale
  double significance_min = 0.0;  // t of kSignificant
  friend bool operator==(const ExchangePolicy&, const ExchangePolicy&) = default;
};

[[nodiscard]] Result<ExchangePolicy> ParseExchangePolicy(std::string_view spec);
// Parsing it gives an equal policy.
[[nodiscard]] std::string ToText(const ExchangePolicy& policy);

}  // namespace leeway
