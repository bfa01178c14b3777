// Any body under any of the eleven decoders: no crash, and an accepted body encodes to the same bytes.
//
// Input: a byte that picks the message, a u64 for the frame's payload_bytes, then the body.
#include "wire/messages.h"

#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "fuzz_target.h"

namespace leeway::wire {
namespace {

template <typename Message>
void TryDecode(std::span<const std::byte> body, std::uint64_t payload_bytes) {
  Message message;
  const Status status = Decode(body, payload_bytes, message);
  if (!status.ok()) {
    LW_CHECK(status.code() == StatusCode::kProtocol && !status.message().empty(), "{}", status.ToString());
    return;
  }
  LW_CHECK(message.entries.size() <= kEntriesMax);
  std::vector<std::byte> again;
  Encode(message, again);
  LW_CHECK(again.size() == body.size() && std::memcmp(again.data(), body.data(), body.size()) == 0);
}

}  // namespace
}  // namespace leeway::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leeway::wire;  // NOLINT(google-build-using-namespace): one function in one program
  std::uint64_t payload_bytes = 0;
  if (size < 1 + sizeof payload_bytes) return 0;
  std::memcpy(&payload_bytes, data + 1, sizeof payload_bytes);
  const auto body = std::as_bytes(std::span(data, size)).subspan(1 + sizeof payload_bytes);
  switch (data[0] % 11) {
    case 0:
      TryDecode<Init>(body, payload_bytes);
      break;
    case 1:
      TryDecode<Push>(body, payload_bytes);
      break;
    case 2:
      TryDecode<Absent>(body, payload_bytes);
      break;
    case 3:
      TryDecode<Verdicts>(body, payload_bytes);
      break;
    case 4:
      TryDecode<Pull>(body, payload_bytes);
      break;
    case 5:
      TryDecode<Answers>(body, payload_bytes);
      break;
    case 6:
      TryDecode<Assign>(body, payload_bytes);
      break;
    case 7:
      TryDecode<Read>(body, payload_bytes);
      break;
    case 8:
      TryDecode<Arrays>(body, payload_bytes);
      break;
    case 9:
      TryDecode<Resume>(body, payload_bytes);
      break;
    default:
      TryDecode<Resumed>(body, payload_bytes);
  }
  return 0;
}
