#include "exchange/exchanges.h"

namespace leeway {

#define LW_EXCHANGE(name, make) Result<ExchangePolicyPtr> make(const PolicyConfig& config);
#include "exchange/builtin.def"
#undef LW_EXCHANGE

Registry<ExchangePolicy> BuiltinExchanges() {
  Registry<ExchangePolicy> exchanges("exchange policy");
#define LW_EXCHANGE(name, make) exchanges.Add(name, make);
#include "exchange/builtin.def"
#undef LW_EXCHANGE
  return exchanges;
}

}  // namespace leeway
