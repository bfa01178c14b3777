#include "sim/workloads/drawn_rules.h"

#include <iterator>

namespace leeway::sim {
namespace {

// Models that a job of two workers may switch to, in every apply mode that fits.
constexpr const char* kSwitches[] = {
    "sync=bsp",
    "sync=bsp apply=aggregate:reduce=ordered",
    "sync=bsp:late=apply apply=immediate",
    "sync=ssp:2",
    "sync=ssp:1,release=soft apply=aggregate",
    "sync=asp",
    "sync=asp apply=immediate:scale=staleness",
    "sync=dsps:0,4,2",
    "sync=dssp:1,4",
    "sync=drop:1",
    "sync=drop:2,late=apply",
    "sync=drop:1 apply=immediate",
    "sync=pssp:1,0.5",
    "sync=pssp:1,alpha=0.8,release=soft,scope=server",
    "sync=psp:1,2",
    "sync=psp:2,3,late=apply",
    "sync=psp:1,1,ahead=sum,late=apply",
    "sync=bounded:1",
    "sync=ssptable:2",
    "sync=when:pull=\"gap < 2 || rand > 0.5\",push=\"count >= workers\"",
    "sync=when:pull=\"progress <= slowest + 1\",push=\"count >= 1\"",
};

}  // namespace

std::string DrawRule(const std::string& where, SeededRandom& random) {
  return where + kSwitches[random.Below(std::size(kSwitches))];
}

}  // namespace leeway::sim
