// FakeExchangeView: a table in an iteration, as a test sets it.
#pragma once

#include <optional>

#include "leeway/exchange.h"

namespace leeway {

struct FakeExchangeView final : ExchangeView {
  explicit FakeExchangeView(std::int64_t of = 0, std::int64_t last = -1) : now(of), before(last) {}
  [[nodiscard]] Iteration iteration() const override { return Iteration(now); }
  [[nodiscard]] Iteration exchanged() const override { return Iteration(before); }
  [[nodiscard]] std::optional<std::int64_t> Age() const override { return age; }
  [[nodiscard]] std::optional<double> Significance() const override { return significance; }

  std::int64_t now, before;
  std::optional<std::int64_t> age;
  std::optional<double> significance;
};

}  // namespace leeway
