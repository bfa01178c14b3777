#include "launch/line_splitter.h"

namespace leeway::app {

void LineSplitter::Add(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n') {
      if (!after_return_ || !line_.empty()) Emit();
    } else if (c == '\r') {
      Emit();
    } else {
      line_.push_back(c);
      if (line_.size() >= kLineBytesMax) Emit();
    }
    after_return_ = c == '\r';
  }
}

void LineSplitter::Finish() {
  if (!line_.empty()) Emit();
}

void LineSplitter::Emit() {
  sink_(line_);
  line_.clear();
}

}  // namespace leeway::app
