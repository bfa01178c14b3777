#include "busy.h"

#include <fmt/format.h>

#include <chrono>

namespace leeway::bench {
namespace {

constexpr std::chrono::milliseconds kLook{300};
constexpr std::chrono::milliseconds kGapsLook{200};

}  // namespace

BusyMeter::BusyMeter()
    : before_(BusyShare(kLook)),
      gaps_(MeasureCoreGaps(kGapsLook)),
      machine_(MachineTimeNow()),
      own_s_(OwnProcessorSeconds()) {}

Busy BusyMeter::End() const {
  return {before_, OthersShare(machine_, MachineTimeNow(), OwnProcessorSeconds() - own_s_), gaps_};
}

JsonLine JsonOf(const Busy& busy) {
  return JsonLine()
      .Real("busy", busy.worst(), 3)
      .Real("busy_before", busy.before, 3)
      .Real("busy_during", busy.during, 3)
      .Real("gaps_s", busy.gaps.per_s, 3)
      .Real("gaps_share", busy.gaps.share, 3)
      .Whole("cores", Cores());
}

std::string TextOf(const Busy& busy) {
  std::string text;
  if (busy.worst() > kBusyMax) {
    text += fmt::format(
        "others used {:.0f} % of this machine just before the run and {:.0f} % during it: these are not the "
        "figures of a quiet one\n",
        busy.before * 100, busy.during * 100);
  }
  if (busy.gaps.share > kGapsShareMax) {
    text += fmt::format(
        "a thread that only looked at the clock lost its core {:.0f} times a second, {:.1f} % of the time: "
        "what takes microseconds, a p99 above all, is the machine's as much as Leeway's\n",
        busy.gaps.per_s, busy.gaps.share * 100);
  }
  if (Cores() < 2) text += "one core only: everything shares it\n";
  return text;
}

}  // namespace leeway::bench
