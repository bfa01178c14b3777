#include "launch/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace leeway::app {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

// A reader that went away is no reason to stop a job: what cannot be written is dropped.
void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::size_t TerminalColumns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

bool Screen::StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

void Screen::Line(int fd, std::string_view prefix, std::string_view text) {
  const std::string bar = bar_;
  ClearBar();
  std::string line;
  line.reserve(prefix.size() + text.size() + 1);
  line.append(prefix).append(text).push_back('\n');
  WriteAll(fd, line);
  if (!bar.empty()) Bar(bar);
}

void Screen::Bar(const std::string& text) {
  if (!terminal_) return;
  bar_ = text.substr(0, TerminalColumns() - 1);  // one column is left, or some terminals wrap
  WriteAll(STDERR_FILENO, std::string(kEraseLine) + bar_);
}

void Screen::ClearBar() {
  if (bar_.empty()) return;
  bar_.clear();
  WriteAll(STDERR_FILENO, kEraseLine);
}

}  // namespace leeway::app
