// ExchangePolicy: in which iterations a worker exchanges a table with its servers (design, section 5).
//
//   every:1        every:k        when_stale:s        significant:t
//
// In the others gradients add up in the worker, and the iteration is absent. Parsed once by the worker node;
// a plain value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/status.h"

namespace leeway {

struct ExchangePolicy {
  enum class Kind : std::uint8_t {
    kEvery,        // in iterations k - 1, 2k - 1, ...
    kWhenStale,    // when what the worker holds is of a v_train more than s iterations behind its own
    kSignificant,  // when |g| / |w| of what has added up is above t
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
