#include "terminal/screen.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstddef>
#include <utility>

#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

// A terminal with room for one byte counts as ready and blocks a longer write. O_NONBLOCK on the descriptor
// that was handed down would change it for the shell too, so the terminal is opened anew.
Descriptor OwnTerminal(int fd) {
  if (isatty(fd) != 1) return {};
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  return Descriptor(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

winsize TerminalSize(int fd = STDERR_FILENO) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size.ws_col = 80;
  if (size.ws_row == 0) size.ws_row = 24;
  return size;
}

}  // namespace

Screen::Screen(bool terminal, int stop_fd)
    : terminal_(terminal),
      stop_fd_(stop_fd),
      out_(OwnTerminal(STDOUT_FILENO)),
      err_(OwnTerminal(STDERR_FILENO)) {}

bool Screen::StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

// One column is left, or some terminals wrap.
std::size_t Screen::BarColumns() { return TerminalSize().ws_col - 1U; }

std::size_t Screen::TableColumns(std::string_view said) {
  const std::size_t seen = std::max<std::size_t>(kTextColumns, TerminalSize(STDOUT_FILENO).ws_col);
  std::size_t told = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), told);
  return error == std::errc() && end == said.data() + said.size() ? std::max(seen, told) : seen;
}

std::size_t Screen::PageRows() { return std::max<std::size_t>(TerminalSize(STDOUT_FILENO).ws_row, 10); }

void Screen::Line(int fd, std::string_view prefix, std::string_view text) {
  const std::string erase = footer_.Erase();
  if (!erase.empty()) Write(STDERR_FILENO, std::exchange(unsent_, {}) + erase);
  std::string line;
  line.reserve(prefix.size() + text.size() + 1);
  line.append(prefix).append(text).push_back('\n');
  Write(fd, line);
  ++lines_;
  if (!erase.empty()) Draw();
}

void Screen::Bar(const std::string& text) {
  if (!terminal_) return;
  footer_.SetBar(text);
  Draw();
}

bool Screen::CanRedraw(int fd) const {
  if (fd == STDOUT_FILENO) return terminal_ && out_.fd() >= 0;
  return terminal_;
}

void Screen::Redraw(const std::string& key, std::string text) {
  footer_.SetLine(key, std::move(text));
  Draw();
}

void Screen::EndRedraw(const std::string& key) { footer_.EndLine(key); }

void Screen::ClearBar() {
  footer_.Clear();
  if (const std::string erase = footer_.Erase(); !erase.empty())
    Write(STDERR_FILENO, std::exchange(unsent_, {}) + erase);
}

void Screen::Draw() {
  const winsize size = TerminalSize();
  if (err_.fd() < 0) return Write(STDERR_FILENO, footer_.Draw(size.ws_col, size.ws_row));
  if (!SendPicture()) return;
  unsent_ = footer_.Draw(size.ws_col, size.ws_row);
  (void)SendPicture();
}

bool Screen::SendPicture() {
  while (!unsent_.empty()) {
    const ssize_t n = write(err_.fd(), unsent_.data(), unsent_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return false;
    if (n <= 0) unsent_.clear();  // nobody looks at this terminal any more
    if (n > 0) unsent_.erase(0, static_cast<std::size_t>(n));
  }
  return true;
}

void Screen::Write(int fd, std::string_view bytes) {
  if (fd == STDOUT_FILENO && out_.fd() >= 0) fd = out_.fd();
  if (fd == STDERR_FILENO && err_.fd() >= 0) fd = err_.fd();
  bool refused = false;
  while (!bytes.empty() && AwaitRoom(fd, refused)) {
    // A pipe or socket that is ready takes this much without blocking.
    const ssize_t n = write(fd, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    refused = n < 0 && errno == EAGAIN;
    if (refused || (n < 0 && errno == EINTR)) continue;
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

bool Screen::AwaitRoom(int fd, bool refused) const {
  using std::chrono::milliseconds;
  int patience_ms = -1;
  if (patient_until_) {
    const auto left = *patient_until_ - std::chrono::steady_clock::now();
    patience_ms = static_cast<int>(std::max(std::chrono::ceil<milliseconds>(left), milliseconds(0)).count());
  }
  std::array<pollfd, 2> fds{{{fd, POLLOUT, 0}, {stop_fd_, POLLIN, 0}}};
  if (!refused) {
    if (poll(fds.data(), fds.size(), patience_ms) < 0) return errno == EINTR;
    return fds[0].revents != 0;
  }
  // A terminal with room for one byte is ready, and takes no end of line, which is two: asking again at once
  // would spin.
  constexpr int kMoment_ms = 10;
  if (patience_ms == 0) return false;
  return poll(&fds[1], 1, kMoment_ms) <= 0;
}

}  // namespace leeway::app
