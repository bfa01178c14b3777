// Any text as a manifest, as it is and under a right checksum: no crash, and an accepted manifest is the same
// after a write and a read.
#include "checkpoint/manifest.h"

#include <string>
#include <string_view>

#include "base/check.h"
#include "fuzz_target.h"

namespace leeway {
namespace {

void Try(std::string_view text) {
  const Result<Manifest> manifest = ReadManifest(text);
  if (!manifest.ok()) {
    LW_CHECK(!manifest.status().message().empty());
    return;
  }
  const std::string written = WriteManifest(*manifest);
  const Result<Manifest> again = ReadManifest(written);
  LW_CHECK(again.ok(), "{}", again.status().ToString());
  LW_CHECK(WriteManifest(*again) == written);
}

}  // namespace
}  // namespace leeway

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  leeway::Try(text);
  leeway::Try(leeway::SealManifest(std::string(text)));
  return 0;
}
