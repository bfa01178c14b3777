#include "real_storage_world.h"

namespace leeway::contract {

bool RealStorageWorld::RunUntil(const std::function<bool()>& done) {
  const TimePoint limit = env().clock.Now() + std::chrono::seconds(20);
  while (!done()) {
    if (env().clock.Now() > limit) return false;
    env_->RunOnce(std::chrono::milliseconds(1));
    neighbour_->RunOnce(std::chrono::milliseconds(0));
  }
  return true;
}

void RealStorageWorld::Restart() {
  env_.reset();
  env_ = std::make_unique<RealEnv>(log_);
}

std::unique_ptr<StorageWorld> MakeRealStorageWorld() { return std::make_unique<RealStorageWorld>(); }

}  // namespace leeway::contract
