// A simulated Env on a host with a disk.
#include "sim/disk.h"
#include "sim/sim_env.h"
#include "sim/sim_network.h"
#include "storage_world.h"

namespace leeway::contract {
namespace {

class SimStorageWorld final : public StorageWorld {
 public:
  // The folder is there, as the real one is.
  SimStorageWorld() { static_cast<void>(disk_.Append("/data/x", {}).ok() && disk_.Remove("/data/x").ok()); }

  Env& env() override { return env_->env(); }
  Storage& neighbour() override { return neighbour_->env().storage; }
  std::string Path(const std::string& name) override { return "/data/" + name; }
  bool RunUntil(const std::function<bool()>& done) override {
    const Duration limit = queue_.now() + std::chrono::seconds(20);
    while (!done()) {
      if (queue_.next() > limit || !queue_.RunOne()) return false;
    }
    return true;
  }
  void Restart() override {
    env_.reset();
    env_ = Make();
  }

 private:
  std::unique_ptr<sim::SimEnv> Make() {
    return std::make_unique<sim::SimEnv>(queue_, network_, host_, disk_, ring_, "node", 1);
  }
  sim::EventQueue queue_;
  sim::TraceHash trace_;
  sim::SimNetwork network_{queue_, {}, 1, trace_};
  sim::LogRing ring_{queue_};
  sim::HostId host_ = network_.AddHost();
  sim::Disk disk_{{}, 1};
  std::unique_ptr<sim::SimEnv> env_ = Make();
  std::unique_ptr<sim::SimEnv> neighbour_ = Make();
};

}  // namespace

std::unique_ptr<StorageWorld> MakeSimStorageWorld() { return std::make_unique<SimStorageWorld>(); }

}  // namespace leeway::contract
