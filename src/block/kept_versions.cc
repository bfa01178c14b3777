#include "block/kept_versions.h"

#include <algorithm>
#include <utility>

namespace leeway {

void KeptVersions::SetLimit(std::size_t limit) {
  limit_ = limit;
  if (kept_.size() > limit_) kept_.erase(kept_.begin(), kept_.end() - static_cast<std::ptrdiff_t>(limit_));
  if (limit_ == 0) uses_ = {};
}

void KeptVersions::Sent(WorkerId worker, Version version, const ConstBufferRef& values) {
  if (limit_ == 0) return;
  Use& use = uses_[worker];
  if (use.newest == version) return;
  Add(version, values);
  Release(std::exchange(use.before, std::exchange(use.newest, version)));
}

void KeptVersions::Used(WorkerId worker, Version base) {
  Use* const use = uses_.Find(worker);
  if (use != nullptr && use->newest == base) Release(std::exchange(use->before, Version(0)));
}

void KeptVersions::Clear() {
  kept_.clear();
  uses_ = {};
}

void KeptVersions::Forget(WorkerId worker) {
  const Use* const use = uses_.Find(worker);
  if (use == nullptr) return;
  Release(use->newest);
  Release(use->before);
  uses_.Erase(worker);
}

ConstBufferRef KeptVersions::Find(Version version) const {
  const auto found = std::ranges::lower_bound(kept_, version, {}, &Kept::version);
  return found != kept_.end() && found->version == version ? found->values : nullptr;
}

void KeptVersions::Add(Version version, const ConstBufferRef& values) {
  const auto at = std::ranges::lower_bound(kept_, version, {}, &Kept::version);
  if (at != kept_.end() && at->version == version) {
    ++at->users;
    return;
  }
  kept_.insert(at, {version, values, 1});
  if (kept_.size() > limit_) kept_.erase(kept_.begin());
}

// A version that the limit has driven out is not there any more.
void KeptVersions::Release(Version version) {
  const auto found = std::ranges::lower_bound(kept_, version, {}, &Kept::version);
  if (found == kept_.end() || found->version != version) return;
  if (--found->users == 0) kept_.erase(found);
}

}  // namespace leeway
