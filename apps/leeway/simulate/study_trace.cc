#include "simulate/study_trace.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace leeway::app {

std::string TraceJson(const scenario::RunRecord& record, const std::string& name) {
  constexpr double kMicro = 1e6;
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  events.push_back({{"ph", "M"}, {"pid", 1}, {"name", "process_name"}, {"args", {{"name", name}}}});
  std::int64_t named = -1;
  for (const scenario::IterationSpan& span : record.timeline) {
    if (std::int64_t{span.rank} != named) {
      named = span.rank;
      events.push_back({{"ph", "M"},
                        {"pid", 1},
                        {"tid", span.rank},
                        {"name", "thread_name"},
                        {"args", {{"name", fmt::format("worker {}", span.rank)}}}});
    }
    const auto add = [&](const char* what, double from, double to) {
      if (to <= from) return;
      events.push_back({{"ph", "X"},
                        {"pid", 1},
                        {"tid", span.rank},
                        {"name", what},
                        {"ts", from * kMicro},
                        {"dur", (to - from) * kMicro},
                        {"args", {{"iteration", span.iteration}}}});
    };
    add("wait", span.asked_s, span.began_s);
    add("compute", span.began_s, span.ended_s);
  }
  const nlohmann::ordered_json all = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  // A label may come from a file's name, which need not be UTF-8.
  return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace leeway::app
