#include "cpu.h"

#include <sched.h>

#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace leeway::bench {
namespace {

// Ticks spent in all, and of them idle, from the first line of /proc/stat.
std::pair<double, double> MachineTicks() {
  std::ifstream stat("/proc/stat");
  std::string name;
  stat >> name;
  double all = 0;
  double idle = 0;
  // user nice system idle iowait irq softirq steal; guest time is in user already.
  for (int i = 0; i < 8; ++i) {
    double ticks = 0;
    stat >> ticks;
    all += ticks;
    if (i == 3 || i == 4) idle += ticks;
  }
  return {all, idle};
}

}  // namespace

int Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

void PinToCore(int n) {
  cpu_set_t may;
  CPU_ZERO(&may);
  if (sched_getaffinity(0, sizeof(may), &may) != 0 || CPU_COUNT(&may) < 2) return;
  n %= CPU_COUNT(&may);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &may) || n-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

double ProcessorSeconds(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

double BusyShare(std::chrono::milliseconds time) {
  const auto [all_before, idle_before] = MachineTicks();
  std::this_thread::sleep_for(time);
  const auto [all, idle] = MachineTicks();
  return all > all_before ? 1.0 - (idle - idle_before) / (all - all_before) : 0.0;
}

}  // namespace leeway::bench
