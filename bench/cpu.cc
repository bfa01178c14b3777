#include "cpu.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace leeway::bench {
namespace {

// From the `first`-th of the cores that it may use on, `count` of them.
void Pin(int first, int count) {
  cpu_set_t may;
  CPU_ZERO(&may);
  if (sched_getaffinity(0, sizeof(may), &may) != 0 || CPU_COUNT(&may) < 2) return;
  first %= CPU_COUNT(&may);
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  int seen = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &may)) continue;
    if (seen >= first && seen < first + count) CPU_SET(core, &wanted);
    ++seen;
  }
  sched_setaffinity(0, sizeof(wanted), &wanted);
}

}  // namespace

int Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

void PinToCore(int n) { Pin(n, 1); }

void PinToCores(int n) { Pin(0, n); }

double ProcessorSeconds(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

double OwnProcessorSeconds() {
  double all = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime})
      all += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
  }
  return all;
}

MachineTime MachineTimeNow() {
  std::ifstream stat("/proc/stat");
  std::string name;
  stat >> name;
  MachineTime time;
  // user nice system idle iowait irq softirq steal; guest time is in user already.
  for (int i = 0; i < 8; ++i) {
    double ticks = 0;
    stat >> ticks;
    const double seconds = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
    time.all_s += seconds;
    if (i != 3 && i != 4) time.used_s += seconds;
  }
  return time;
}

double OthersShare(const MachineTime& from, const MachineTime& to, double own_s) {
  const double all_s = to.all_s - from.all_s;
  if (all_s <= 0) return 0;
  return std::clamp((to.used_s - from.used_s - own_s) / all_s, 0.0, 1.0);
}

double BusyShare(std::chrono::milliseconds time) {
  const MachineTime from = MachineTimeNow();
  std::this_thread::sleep_for(time);
  return OthersShare(from, MachineTimeNow(), 0);
}

}  // namespace leeway::bench
