// Any text as a pull and as a push condition: no crash, an error gives its reason, and an accepted text can
// be evaluated.
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/spec.h"
#include "fuzz_target.h"
#include "sync/sync_policy.h"

namespace {

// Everybody stands nowhere.
class Nobody final : public leeway::ProgressView {
 public:
  std::uint32_t CountAt(leeway::Iteration) const override { return 0; }
  std::uint32_t MembersAt(leeway::Iteration) const override { return 0; }
  std::optional<leeway::Iteration> ProgressOf(leeway::WorkerId) const override { return std::nullopt; }
  leeway::Iteration Fastest() const override { return leeway::Iteration(-1); }
  leeway::Iteration Slowest() const override { return leeway::Iteration(-1); }
  std::optional<leeway::Duration> PushInterval(leeway::WorkerId) const override { return std::nullopt; }
  std::optional<leeway::WorkerId> LastSlowest() const override { return std::nullopt; }
  std::optional<leeway::WorkerId> LastFastest() const override { return std::nullopt; }
  std::uint32_t TakenSinceAdvance() const override { return 0; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const leeway::Registry<leeway::SyncModel> models = leeway::BuiltinSyncModels();
  for (const char* which : {"pull", "push"}) {
    const std::string spec = leeway::PrintSpec({{{"when", {{which, text}, {"s", "3"}}, {}}}});
    const leeway::Result<leeway::SyncPolicy> policy = leeway::CheckSyncPolicy(models, spec);
    if (!policy.ok()) {
      LW_CHECK(!policy.status().message().empty());
      continue;
    }
    const Nobody nobody;
    const leeway::SyncView view{
        .now = {}, .v_train = leeway::Iteration(77), .advanced_at = {}, .progress = nobody};
    leeway::Memory memory;
    (void)policy->model->OnPull(view, memory, leeway::WorkerId(0), leeway::Iteration(78));
    (void)policy->model->MayAdvance(view, memory);
    LW_CHECK(memory.empty());
  }
  return 0;
}
