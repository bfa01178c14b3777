#include "process/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>

#include "base/errors.h"
#include "base/printable.h"
#include "transport/loop/event_loop.h"

namespace leeway {
namespace {

// Lines that wait for a Flush are written when they are so many bytes.
constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::size_t kNameBytesMax = 120;

// As the text of a JSON string.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : Printable(text, kNameBytesMax)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Microseconds, with all digits of a nanosecond.
std::string Micros(Duration time) {
  return fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
}

bool TakeNumber(const char*& at, const char* end, std::int64_t& number) {
  const auto [next, error] = std::from_chars(at, end, number);
  if (error != std::errc{} || number < 0) return false;
  at = next;
  return true;
}

}  // namespace

Result<TraceWindow> ParseTraceSteps(const std::string& text) {
  std::int64_t from = 0, to = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool is_window =
      TakeNumber(at, end, from) && at != end && *at++ == ':' && TakeNumber(at, end, to) && at == end;
  if (!is_window || from >= to) {
    return InvalidArgument(
        "got \"{}\", wanted two numbers FROM:TO, the first below the second: \"100:120\" is the 20 steps "
        "from "
        "step 100 on",
        text);
  }
  return TraceWindow{Iteration(from), Iteration(to)};
}

Result<std::unique_ptr<TraceFile>> TraceFile::Open(const TraceOptions& options, const Names& names,
                                                   Log& log) {
  if (options.folder.empty()) return std::unique_ptr<TraceFile>();
  LW_ASSIGN_OR_RETURN(const TraceWindow window, ParseTraceSteps(options.steps));
  std::string name = names.process;
  for (char& c : name) {
    if (c == ' ') c = '-';
  }
  // A process that is started again has another id, and a file of its own.
  const std::string path = fmt::format("{}/{}.{}.jsonl", options.folder, name, getpid());
  return std::make_unique<TraceFile>(path, window, options.events_max, names, log);
}

TraceFile::TraceFile(const std::string& path, TraceWindow window, std::uint64_t events_max,
                     const Names& names, Log& log)
    : window_(window), events_max_(events_max), path_(path), pid_(getpid()), log_(log) {
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    End(std::strerror(errno));
    return;
  }
  AddNames(names);
  Flush();
}

TraceFile::~TraceFile() {
  Flush();
  if (fd_ >= 0) close(fd_);
}

TimePoint TraceFile::Now() const { return EventLoop::Now(); }

void TraceFile::AddNames(const Names& names) {
  const auto add = [this](std::uint32_t track, const char* what, const std::string& key,
                          const std::string& value) {
    lines_ += fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"{}":{}}}}})", pid_, track,
                          what, key, value) +
              "\n";
  };
  add(0, "process_name", "name", Quoted(names.process));
  add(0, "process_sort_index", "sort_index", fmt::format("{}", names.order));
  for (const auto& [track, name] : names.threads) {
    add(track, "thread_name", "name", Quoted(name));
    add(track, "thread_sort_index", "sort_index", fmt::format("{}", track));
  }
}

// Asked before the lock: a thread of the parent may have held it when the process forked.
bool TraceFile::IsForked() const { return getpid() != pid_; }

void TraceFile::Add(const TraceEvent& event) {
  if (IsForked()) return;
  const std::lock_guard lock(mutex_);
  if (over_.load(std::memory_order_relaxed)) return;
  AppendTo(lines_, event);
  if (++events_ == events_max_) {
    lines_ +=
        fmt::format(
            R"({{"ph":"i","pid":{},"tid":{},"ts":{},"s":"p","name":"the trace of this process ends here: it has {} events, the most that it may have"}})",
            pid_, event.track, Micros(event.at.time_since_epoch()), events_max_) +
        "\n";
    Write();
    over_ = true;
  }
  if (lines_.size() >= kBufferBytes) Write();
}

void TraceFile::AppendTo(std::string& lines, const TraceEvent& event) const {
  const auto out = std::back_inserter(lines);
  const char* const phases[] = {"b", "e", "X", "s", "f"};
  fmt::format_to(out, R"({{"ph":"{}","pid":{},"tid":{},"ts":{})", phases[static_cast<int>(event.kind)], pid_,
                 event.track, Micros(event.at.time_since_epoch()));
  switch (event.kind) {
    case TraceEvent::Kind::kBegin:
    case TraceEvent::Kind::kEnd:
      // Spans are matched by their category and id over all processes.
      fmt::format_to(out, R"(,"cat":"{}","id":"{:x}.{:x}")", event.name, pid_, event.id);
      break;
    case TraceEvent::Kind::kSlice:
      fmt::format_to(out, R"(,"dur":{})", Micros(std::max(event.until - event.at, Duration::zero())));
      break;
    case TraceEvent::Kind::kFlowIn:
      fmt::format_to(out, R"(,"bp":"e","cat":"{}","id":"{:x}")", event.name, event.id);
      break;
    case TraceEvent::Kind::kFlowOut:
      fmt::format_to(out, R"(,"cat":"{}","id":"{:x}")", event.name, event.id);
      break;
  }
  fmt::format_to(out, R"(,"name":"{}","args":{{"iteration":{})", event.name, event.iteration.value());
  if (!event.of.empty()) fmt::format_to(out, R"(,"of":{})", Quoted(event.of));
  lines += "}}\n";
}

void TraceFile::Flush() {
  if (IsForked()) return;
  const std::lock_guard lock(mutex_);
  if (!over_.load(std::memory_order_relaxed)) Write();
}

void TraceFile::Write() {
  if (lines_.empty() || fd_ < 0) return;
  std::string_view left(lines_);
  while (!left.empty()) {
    const ssize_t n = write(fd_, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      End(std::strerror(errno));
      break;
    }
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  lines_.clear();
}

void TraceFile::End(const std::string& why) {
  over_ = true;
  log_.Write(LogLevel::kWarning, fmt::format("cannot write {}: {}; the trace of this process ends here, and "
                                             "the job goes on",
                                             path_, why));
}

}  // namespace leeway
