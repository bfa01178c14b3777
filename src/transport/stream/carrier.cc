#include "transport/stream/carrier.h"

#include "base/errors.h"

namespace leeway {

Result<Carrier> ParseCarrier(std::string_view text) {
  if (text == "auto") return Carrier::kAuto;
  if (text == "local") return Carrier::kLocal;
  if (text == "uds") return Carrier::kUds;
  if (text == "tcp") return Carrier::kTcp;
  return InvalidArgument("unknown transport \"{}\"; known: auto, local, uds, tcp", text);
}

}  // namespace leeway
