// Child: a forked process that runs one function and never outlives its parent. The two talk in lines.
//
// The parent asks ("run 0.5"), the child obeys and answers ("ok 1200 0.501"), or says what went wrong ("error
// ...").
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "leeway/status.h"
#include "transport/system/descriptor.h"

namespace leeway::bench {

// Forks a child that dies with its parent, however that ends: the child's id, 0 in the child itself, -1: the
// system has no room for it. REQUIRES: the process has no other threads.
[[nodiscard]] pid_t ForkBound();
// The exit code of a status from waitpid: 128 + n if signal n ended the process.
[[nodiscard]] int ExitCodeOf(int wait_status);
// Waits for the end of a child; its exit code.
int WaitForExit(pid_t child);

// Lines from a pipe.
class LineReader {
 public:
  LineReader() = default;
  explicit LineReader(int fd) : fd_(fd) {}
  // Waits for the next one, at most `limit`; kUnavailable when the other side is gone.
  [[nodiscard]] Result<std::string> Next(std::chrono::milliseconds limit);

 private:
  int fd_ = -1;
  std::string read_;  // and not yet given out
};

class Child {
 public:
  // The child's end of the talk.
  class Parent {
   public:
    Parent(int in, int out) : out_(out), lines_(in) {}
    void Tell(const std::string& line) const;
    // Nothing when the parent is gone.
    [[nodiscard]] std::optional<std::string> Hear();

   private:
    const int out_;
    LineReader lines_;
  };

  // Forks. `run` gives the child's exit code.
  // REQUIRES: the process has no other threads.
  explicit Child(const std::function<int(Parent& parent)>& run);
  // Ends the child if it still runs.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // The child's next answer: the text after its "ok", or its error. A child that ended, or says nothing for
  // so long, is an error too.
  [[nodiscard]] Result<std::string> Hear(std::chrono::milliseconds limit = std::chrono::seconds(60));
  [[nodiscard]] Status Tell(const std::string& line);
  // Its exit code, 128 + n if signal n ended it; nothing while it runs. REQUIRES: said no code before.
  [[nodiscard]] std::optional<int> Ended();

 private:
  pid_t pid_ = -1;
  Descriptor in_, out_;
  LineReader lines_;
};

// The orders that a child obeys: by the first word of the line, with the words after it.
using Orders = std::map<std::string, std::function<Result<std::string>(const std::string& words)>>;
// Says that the child is ready, then answers until the parent goes away or something fails; an exit code.
int Obey(Child::Parent& parent, const Orders& orders);
// Says it to the parent; an exit code.
int Fail(const Child::Parent& parent, const Status& why);

}  // namespace leeway::bench
