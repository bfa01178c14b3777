// The bar over the runs of a study: redrawn on a terminal, a line every few seconds elsewhere.
#pragma once

#include <chrono>

#include "scenario/study.h"
#include "terminal/screen.h"

namespace leeway::app {

class StudyBar {
 public:
  explicit StudyBar(std::string what);
  void Show(const scenario::StudyProgress& progress);

 private:
  const std::string what_;
  Screen screen_;
  const std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace leeway::app
