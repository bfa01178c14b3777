#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/errors.h"

namespace leeway::bench {
namespace {

constexpr std::string_view kOk = "ok ";
constexpr std::string_view kError = "error ";
// A child dies with its parent, so it may wait for a word as long as it takes.
constexpr std::chrono::hours kForever{240};

bool WriteLine(int fd, const std::string& line) {
  const std::string text = line + "\n";
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    written += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

pid_t ForkBound() {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before prctl.
  if (getppid() != parent) _exit(1);
  return 0;
}

int ExitCodeOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int WaitForExit(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ExitCodeOf(status);
}

Result<std::string> LineReader::Next(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    if (const std::size_t at = read_.find('\n'); at != std::string::npos) {
      std::string line = read_.substr(0, at);
      read_.erase(0, at + 1);
      return line;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return DeadlineExceeded("nothing was said for {} ms", limit.count());
    pollfd wait{.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, static_cast<int>(left.count())) <= 0) continue;
    char bytes[4096];
    const ssize_t n = read(fd_, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Unavailable("the other side is gone");
    read_.append(bytes, static_cast<std::size_t>(n));
  }
}

void Child::Parent::Tell(const std::string& line) const {
  if (!WriteLine(out_, line)) _exit(1);
}

std::optional<std::string> Child::Parent::Hear() {
  Result<std::string> line = lines_.Next(kForever);
  if (!line.ok()) return std::nullopt;
  return *std::move(line);
}

Child::Child(const std::function<int(Parent& parent)>& run) {
  int up[2] = {-1, -1}, down[2] = {-1, -1};
  if (pipe2(up, O_CLOEXEC) != 0) return;
  in_ = Descriptor(up[0]);
  const Descriptor child_out(up[1]);
  if (pipe2(down, O_CLOEXEC) != 0) return;
  out_ = Descriptor(down[1]);
  const Descriptor child_in(down[0]);
  pid_ = ForkBound();
  if (pid_ == 0) {
    in_ = Descriptor();
    out_ = Descriptor();
    Parent talk(child_in.fd(), child_out.fd());
    _exit(run(talk));
  }
  lines_ = LineReader(in_.fd());
}

Child::~Child() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  WaitForExit(pid_);
}

Result<std::string> Child::Hear(std::chrono::milliseconds limit) {
  if (pid_ <= 0) return ResourceExhausted("cannot start a process for the bench");
  Result<std::string> line = lines_.Next(limit);
  if (!line.ok()) return line.status().WithContext("a process of the bench");
  if (line->starts_with(kError))
    return Unavailable("a process of the bench: {}", line->substr(kError.size()));
  return line->starts_with(kOk) ? line->substr(kOk.size()) : *line;
}

Status Child::Tell(const std::string& line) {
  if (pid_ <= 0) return ResourceExhausted("cannot start a process for the bench");
  // A child that is gone shows as an error of the write, not as a signal that ends the bench.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const bool told = WriteLine(out_.fd(), line);
  std::signal(SIGPIPE, before);
  return told ? Status::Ok() : Unavailable("a process of the bench is gone");
}

std::optional<int> Child::Ended() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  return ExitCodeOf(status);
}

int Fail(const Child::Parent& parent, const Status& why) {
  std::string line = why.message();
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  parent.Tell(std::string(kError) + line);
  return ExitCode(why);
}

int Obey(Child::Parent& parent, const Orders& orders) {
  parent.Tell("ok ready");
  while (const std::optional<std::string> line = parent.Hear()) {
    const std::size_t space = line->find(' ');
    const auto order = orders.find(line->substr(0, space));
    if (order == orders.end()) return Fail(parent, Internal("unknown order \"{}\"", *line));
    const Result<std::string> answer =
        order->second(space == std::string::npos ? std::string() : line->substr(space + 1));
    if (!answer.ok()) return Fail(parent, answer.status());
    parent.Tell(std::string(kOk) + *answer);
  }
  return 0;
}

}  // namespace leeway::bench
