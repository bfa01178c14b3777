// RealStorageWorld: a real Env on this thread, with a temporary folder for its files.
#pragma once

#include <memory>
#include <string>

#include "base/testing/temp_folder.h"
#include "storage_world.h"
#include "transport/real_env.h"

namespace leeway::contract {

class RealStorageWorld final : public StorageWorld {
 public:
  Env& env() override { return env_->env(); }
  Storage& neighbour() override { return neighbour_->env().storage; }
  std::string Path(const std::string& name) override { return folder_.PathOf(name); }
  bool RunUntil(const std::function<bool()>& done) override;
  void Restart() override;

 private:
  class SilentLog final : public Log {
   public:
    void Write(LogLevel, std::string_view) override {}
  };
  SilentLog log_;
  testing::TempFolder folder_;
  std::unique_ptr<RealEnv> env_ = std::make_unique<RealEnv>(log_);
  std::unique_ptr<RealEnv> neighbour_ = std::make_unique<RealEnv>(log_);
};

}  // namespace leeway::contract
