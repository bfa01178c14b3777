// BuiltinExchanges: the rows of builtin.def. Users may Add to their copy.
#pragma once

#include "base/registry.h"
#include "leeway/exchange.h"

namespace leeway {

[[nodiscard]] Registry<ExchangePolicy> BuiltinExchanges();

}  // namespace leeway
