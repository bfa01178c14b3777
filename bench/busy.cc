#include "busy.h"

#include <fmt/format.h>

#include <chrono>

namespace leeway::bench {
namespace {

constexpr std::chrono::milliseconds kLook{300};

}  // namespace

BusyMeter::BusyMeter()
    : before_(BusyShare(kLook)), machine_(MachineTimeNow()), own_s_(OwnProcessorSeconds()) {}

Busy BusyMeter::End() const {
  return {before_, OthersShare(machine_, MachineTimeNow(), OwnProcessorSeconds() - own_s_)};
}

JsonLine JsonOf(const Busy& busy) {
  return JsonLine()
      .Real("busy", busy.worst(), 3)
      .Real("busy_before", busy.before, 3)
      .Real("busy_during", busy.during, 3)
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
  if (Cores() < 2) text += "one core only: everything shares it\n";
  return text;
}

}  // namespace leeway::bench
