// RealStorageWorld: a real Env on this thread, with a temporary folder for its files.
#pragma once

#include <memory>
#include <string>

#include "storage_world.h"
#include "transport/real_env.h"

namespace leeway::contract {

class RealStorageWorld final : public StorageWorld {
 public:
  RealStorageWorld();
  ~RealStorageWorld() override;
  RealStorageWorld(const RealStorageWorld&) = delete;
  RealStorageWorld& operator=(const RealStorageWorld&) = delete;

  Env& env() override { return env_->env(); }
  Storage& neighbour() override { return neighbour_->env().storage; }
  std::string Path(const std::string& name) override { return folder_ + "/" + name; }
  bool RunUntil(const std::function<bool()>& done) override;
  void Restart() override;

 private:
  class SilentLog final : public Log {
   public:
    void Write(LogLevel, std::string_view) override {}
  };
  SilentLog log_;
  std::string folder_;
  std::unique_ptr<RealEnv> env_ = std::make_unique<RealEnv>(log_, 1);
  std::unique_ptr<RealEnv> neighbour_ = std::make_unique<RealEnv>(log_, 3);
};

}  // namespace leeway::contract
