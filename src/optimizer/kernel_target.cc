#include "optimizer/kernel_target.h"

#include "optimizer/kernel_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernel_target.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::kernels::HWY_NAMESPACE {

const char* NameOfTarget() { return hwy::TargetName(HWY_TARGET); }

}  // namespace leeway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::kernels {
namespace {

HWY_EXPORT(NameOfTarget);

void Choose(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);  // 0: as the processor has them
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::vector<std::string> Targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    names.emplace_back(hwy::TargetName(target));
  return names;
}

std::string Target() { return HWY_DYNAMIC_DISPATCH(NameOfTarget)(); }

bool UseTarget(const std::string& name) {
  Choose(0);
  if (name.empty()) return true;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (hwy::TargetName(target) != name) continue;
    Choose(target);
    return true;
  }
  return false;
}

}  // namespace leeway::kernels
#endif
