// The figures and tables of papers that there are scenario files for: scenarios/papers/PAPER/FIGURE.toml.
#pragma once

#include <string>
#include <vector>

#include "leeway/status.h"

namespace leeway::app {

struct PaperFile {
  std::string paper;   // "fluentps"
  std::string figure;  // "table4_alexnet_cifar10"
  std::string path;
  std::string title;  // of its study
};

// All in `folder`, or those of one paper, or of one figure of it and of its parts ("table4" has
// "table4_alexnet_cifar10", and "figure4" is in "table1_figure4"), in the order of their numbers. A file
// without a title is no figure: other files include it. An error: the folder or a name is not there, or a
// file cannot be read.
[[nodiscard]] Result<std::vector<PaperFile>> FindPaperFiles(const std::string& folder,
                                                            const std::string& paper,
                                                            const std::string& figure);

}  // namespace leeway::app
