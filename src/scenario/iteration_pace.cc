#include "scenario/iteration_pace.h"

#include <algorithm>
#include <limits>
#include <map>

#include "scenario/run_books.h"

namespace leeway::scenario {

PaceOfIterations PaceOf(std::span<const Step> steps) {
  struct Times {
    Duration asked = Duration::max(), ended{0}, longest{0};
  };
  std::map<std::uint32_t, Times> iterations;
  for (const Step& step : steps) {
    Times& times = iterations[step.iteration];
    times.asked = std::min(times.asked, step.asked);
    times.ended = std::max(times.ended, step.ended);
    times.longest = std::max(times.longest, step.ended - step.began);
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (iterations.size() < 2) return {kNone, kNone};
  Duration communication{0}, beyond{0}, before = iterations.begin()->second.ended;
  for (auto at = std::next(iterations.begin()); at != iterations.end(); ++at) {
    const Times& times = at->second;
    communication += times.ended - times.asked - times.longest;
    beyond += times.ended - before - times.longest;
    before = times.ended;
  }
  const auto mean_s = [n = static_cast<double>(iterations.size() - 1)](Duration sum) {
    return std::chrono::duration<double>(sum).count() / n;
  };
  return {mean_s(communication), mean_s(beyond)};
}

}  // namespace leeway::scenario
