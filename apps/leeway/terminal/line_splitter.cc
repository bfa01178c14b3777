#include "terminal/line_splitter.h"

namespace leeway::app {

void LineSplitter::Add(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n') {
      EndLine();
    } else if (c == '\r') {
      redrawn_ = true;
      if (!line_.empty()) before_ = std::move(line_);
      line_.clear();
    } else {
      line_.push_back(c);
      if (line_.size() >= kLineBytesMax) EndLine();
    }
  }
  if (!redrawn_) return;
  if (const std::string& now = line_.empty() ? before_ : line_; !now.empty()) redrawn_sink_(now);
}

void LineSplitter::Finish() {
  if (!line_.empty() || !before_.empty()) EndLine();
}

void LineSplitter::EndLine() {
  line_sink_(line_.empty() ? before_ : line_);
  line_.clear();
  before_.clear();
  redrawn_ = false;
}

}  // namespace leeway::app
