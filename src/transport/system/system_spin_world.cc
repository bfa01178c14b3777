#include "transport/system/system_spin_world.h"

#include <sched.h>
#include <sys/resource.h>

#include <chrono>

namespace leeway {
namespace {

class SystemWorld final : public SpinWorld {
 public:
  [[nodiscard]] std::int64_t NowNs() const override {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  [[nodiscard]] std::int64_t Preemptions() const override {
    rusage usage{};
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
  }
  [[nodiscard]] int Cores() const override {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
  }
};

}  // namespace

const SpinWorld& SystemSpinWorld() {
  static const SystemWorld kWorld;
  return kWorld;
}

}  // namespace leeway
