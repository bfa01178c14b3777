#include "process/worker_environment.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "base/split.h"

namespace leeway {
namespace {

std::string Text(const Variables& variables, const char* name, const std::string& absent = "") {
  const char* value = variables(name);
  return value == nullptr || *value == '\0' ? absent : value;
}

// "a.so:b.so".
std::vector<std::string> Paths(const std::string& text) {
  if (text.empty()) return {};
  return SplitAt(text, ':');
}

Result<std::int64_t> Rank(const std::string& text) {
  std::int64_t rank = -1;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, rank);
  if (parsed.ec != std::errc{} || parsed.ptr != end || rank < -1)
    return InvalidArgument("LEEWAY_RANK: got \"{}\", wanted a number of at least -1", text);
  return rank;
}

}  // namespace

Result<WorkerOptions> WorkerOptionsFrom(const Variables& variables) {
  WorkerOptions options;
  options.scheduler = Text(variables, "LEEWAY_SCHEDULER");
  options.secret_file = Text(variables, "LEEWAY_SECRET_FILE");
  options.insecure = Text(variables, "LEEWAY_INSECURE") == "1";
  options.job = Text(variables, "LEEWAY_JOB", options.job);
  options.link.transport = Text(variables, "LEEWAY_TRANSPORT", options.link.transport);
  options.plugins = Paths(Text(variables, "LEEWAY_PLUGINS"));
  options.record = Text(variables, "LEEWAY_RECORD") == "1";
  options.trace.folder = Text(variables, "LEEWAY_TRACE");
  options.trace.steps = Text(variables, "LEEWAY_TRACE_STEPS", options.trace.steps);
  LW_ASSIGN_OR_RETURN(options.rank, Rank(Text(variables, "LEEWAY_RANK", "-1")));
  return options;
}

// The only reader of the environment outside of apps/ and python/ (decision 29).
Result<WorkerOptions> WorkerOptions::FromEnvironment() {
  return WorkerOptionsFrom([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace leeway
