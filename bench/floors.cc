#include "floors.h"

#include "sim.h"
#include "sync.h"

namespace leeway::bench {
namespace {

constexpr auto kAtLeast = Bound::kAtLeast;
constexpr auto kAtMost = Bound::kAtMost;

constexpr std::string_view kWhyMemorySpeed = "local traffic runs at the speed of memory";
constexpr std::string_view kWhySocketSpeed = "TCP runs at the speed of the socket";
constexpr std::string_view kWhyCpu = "what a transfer costs is lost to training";
constexpr std::string_view kWhyScale = "more workers and servers take nothing from each other";
constexpr std::string_view kWhyKernels = "an update runs as fast as a plain loop";
constexpr std::string_view kWhyStep = "distributing a model may not slow its training down";
constexpr std::string_view kWhyFirst = "a model reaches its workers about as fast as it can be copied";
constexpr std::string_view kWhyFlat = "a job may run for weeks";

constexpr Floor kFloors[] = {
    {"pushpull.local.64KiB.limit_ratio", kAtLeast, 0.6, kWhyMemorySpeed},
    {"pushpull.local.1MiB.limit_ratio", kAtLeast, 0.8, kWhyMemorySpeed},
    {"pushpull.local.4MiB.limit_ratio", kAtLeast, 0.8, kWhyMemorySpeed},
    {"pushpull.local.1MiB.cpu_s_per_gb_moved", kAtMost, 0.15, kWhyCpu},
    {"pushpull.tcp.64KiB.ratio", kAtLeast, 0.8, kWhySocketSpeed},
    {"pushpull.tcp.1MiB.ratio", kAtLeast, 0.9, kWhySocketSpeed},
    {"pushpull.tcp.4MiB.ratio", kAtLeast, 0.9, kWhySocketSpeed},
    {"pushpull.tcp.64KiB.cpu_ratio", kAtMost, 1.2, kWhyCpu},
    {"pushpull.tcp.1MiB.cpu_ratio", kAtMost, 1.2, kWhyCpu},
    {"pushpull.tcp.4MiB.cpu_ratio", kAtMost, 1.2, kWhyCpu},
    {"scale.2+2.ratio", kAtLeast, 0.9, kWhyScale},
    {"scale.8+2.ratio", kAtLeast, 0.9, kWhyScale},
    {"sync.ratio_max", kAtMost, kSyncRatioMax, kWhyScale},
    {"sim.events_s", kAtLeast, kSimEventsMin, "studies of large clusters"},
    {"sim.growth", kAtMost, kSimGrowthMax, kWhyScale},
    {"optimizer.*.ratio", kAtLeast, 0.8, kWhyKernels},
    {"step.one_worker.ratio", kAtMost, 1.07, kWhyStep},
    {"step.four_workers.ratio", kAtMost, 1 / 0.9, kWhyStep},
    {"step.four_workers.over_met", kAtMost, 1.05, "what is lost beyond waiting for each other is ours"},
    {"memory.first_iteration.ratio", kAtMost, 3, kWhyFirst},
    {"memory.growth_kib", kAtMost, 1024, kWhyFlat},
    {"memory.descriptors_growth", kAtMost, 0, kWhyFlat},
    {"checkpoint.cost_percent", kAtMost, 3, "checkpoints are written beside the training"},
};

// Whether `figure` is the one of `floor`, in which a "*" stands for any word.
bool Means(std::string_view floor, std::string_view figure) {
  const std::size_t star = floor.find('*');
  if (star == std::string_view::npos) return floor == figure;
  const std::string_view head = floor.substr(0, star), tail = floor.substr(star + 1);
  return figure.size() > head.size() + tail.size() && figure.starts_with(head) && figure.ends_with(tail);
}

}  // namespace

std::span<const Floor> Floors() { return kFloors; }

const Floor* FindFloor(std::string_view figure) {
  for (const Floor& floor : kFloors) {
    if (Means(floor.figure, figure)) return &floor;
  }
  return nullptr;
}

}  // namespace leeway::bench
