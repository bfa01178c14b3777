// LineSplitter: bytes as they come from a pipe -> whole lines.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace leeway::app {

class LineSplitter {
 public:
  using Sink = std::function<void(std::string_view line)>;  // without its end of line

  explicit LineSplitter(Sink sink) : sink_(std::move(sink)) {}
  // A carriage return ends a line too (progress bars of scripts), "\r\n" ends one line. A line beyond
  // kLineBytesMax is cut.
  void Add(std::string_view bytes);
  // The stream has ended: what is left is a line.
  void Finish();

  static constexpr std::size_t kLineBytesMax = 64 * 1024;

 private:
  void Emit();

  const Sink sink_;
  std::string line_;
  bool after_return_ = false;
};

}  // namespace leeway::app
