#include "transport/stream/carrier.h"

#include <string>
#include <vector>

#include "base/errors.h"

namespace leeway {

Result<Carrier> ParseCarrier(std::string_view text) {
  if (text == "auto") return Carrier::kAuto;
  if (text == "local") return Carrier::kLocal;
  if (text == "uds") return Carrier::kUds;
  if (text == "tcp") return Carrier::kTcp;
  const std::vector<std::string> known = {"auto", "local", "uds", "tcp"};
  return InvalidArgument("unknown transport \"{}\"; known: auto, local, uds, tcp{}", text,
                         DidYouMean(text, known));
}

}  // namespace leeway
