// Reports on papers' figures: a Markdown file and pictures for each paper, and one page for all.
#pragma once

#include <string>
#include <vector>

#include "chart/page.h"
#include "leeway/status.h"
#include "papers/direction.h"
#include "papers/paper_figure.h"
#include "simulate/simulate.h"

namespace leeway::app {

// One figure that has run, or why it has not.
struct PaperResult {
  PaperFile file;
  Finished finished;
  std::vector<Direction> directions;
  std::string skipped;  // empty: it ran
  bool quick = false;
};

// The command that makes it again.
[[nodiscard]] std::string CommandOf(const PaperResult& result);
// REQUIRES: all are of one paper.
[[nodiscard]] std::string PaperMarkdown(const std::vector<PaperResult>& results);
// Each with its path below the folder of the Markdown file.
struct TextFile {
  std::string path;
  std::string text;
};
[[nodiscard]] std::vector<TextFile> PicturesOf(const PaperResult& result);
[[nodiscard]] std::string PapersHtml(const std::vector<PaperResult>& results);

}  // namespace leeway::app
