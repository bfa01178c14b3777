// LineSplitter: bytes as they come from a pipe -> whole lines, and lines that a script redraws.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace leeway::app {

class LineSplitter {
 public:
  using Sink = std::function<void(std::string_view text)>;  // without its end of line

  // `line` gets whole lines. `redrawn` gets the text of a line that is under way and begins anew at a
  // carriage return, as progress bars do: its newest text, once per Add. The line itself comes when it ends.
  LineSplitter(Sink line, Sink redrawn) : line_sink_(std::move(line)), redrawn_sink_(std::move(redrawn)) {}
  // "\r\n" ends one line. A line beyond kLineBytesMax is cut.
  void Add(std::string_view bytes);
  // The stream has ended: the rest is a line.
  void Finish();

  static constexpr std::size_t kLineBytesMax = 64 * 1024;

 private:
  void EndLine();

  const Sink line_sink_;
  const Sink redrawn_sink_;
  std::string line_;    // since the last end of line or carriage return
  std::string before_;  // what stood before the carriage return: a terminal shows it until it is overwritten
  bool redrawn_ = false;
};

}  // namespace leeway::app
