#include "process/console_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <utility>

#include "base/printable.h"

namespace leeway {
namespace {

// Longer lines come from peers that send more than anyone will read.
constexpr std::size_t kLineBytesMax = 8 * 1024;

}  // namespace

ConsoleLog::ConsoleLog(std::string who, LogLevel least) : least_(least), who_(std::move(who)) {}

void ConsoleLog::SetWho(std::string who) {
  const std::lock_guard lock(mutex_);
  who_ = std::move(who);
}

void ConsoleLog::Write(LogLevel level, std::string_view line) {
  if (level < least_) return;
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  constexpr char kLetters[] = "DIWE";
  const std::lock_guard lock(mutex_);
  const std::string text =
      fmt::format("{:02}:{:02}:{:02}.{:03} {} {}: {}\n", local.tm_hour, local.tm_min, local.tm_sec, ms,
                  kLetters[static_cast<int>(level)], who_, PrintableLines(line, kLineBytesMax));
  // One write, so that lines of several processes on one terminal do not mix. A failure has no place to be
  // reported.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace leeway
