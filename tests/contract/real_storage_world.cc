#include "real_storage_world.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>

namespace leeway::contract {

RealStorageWorld::RealStorageWorld() : folder_(::testing::TempDir() + "leeway_storage_XXXXXX") {
  if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("cannot make the folder " + folder_);
}

RealStorageWorld::~RealStorageWorld() {
  env_.reset();
  neighbour_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

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
  env_ = std::make_unique<RealEnv>(log_, 2);
}

std::unique_ptr<StorageWorld> MakeRealStorageWorld() { return std::make_unique<RealStorageWorld>(); }

}  // namespace leeway::contract
