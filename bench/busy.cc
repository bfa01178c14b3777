#include "busy.h"

#include <fmt/format.h>

namespace leeway::bench {
namespace {

constexpr std::chrono::milliseconds kLook{300};
constexpr std::chrono::milliseconds kGapsLook{200};
// Looks are some 30 ns apart; a tick of an undisturbed kernel takes 1 to 3 microseconds.
constexpr std::chrono::microseconds kGap{5};

}  // namespace

CoreGaps MeasureCoreGaps(std::chrono::nanoseconds time) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Clock::time_point last = begin;
  Clock::duration lost{};
  int gaps = 0;
  while (last - begin < time) {
    const Clock::time_point now = Clock::now();
    if (now - last >= kGap) {
      ++gaps;
      lost += now - last;
    }
    last = now;
  }
  const double all_s = std::chrono::duration<double>(last - begin).count();
  return {.per_s = gaps / all_s, .share = std::chrono::duration<double>(lost).count() / all_s};
}

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
