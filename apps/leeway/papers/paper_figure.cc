#include "papers/paper_figure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "base/errors.h"
#include "papers/cluster_rule.h"
#include "simulate/scenario_file.h"

namespace leeway::app {
namespace {

namespace fs = std::filesystem;

// "figure10" comes after "figure9": digits are compared as a number.
bool ComesBefore(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& name) {
    const auto digit = std::ranges::find_if(name, [](unsigned char c) { return std::isdigit(c) != 0; });
    std::size_t number = 0;
    auto at = digit;
    for (; at != name.end() && std::isdigit(static_cast<unsigned char>(*at)) != 0; ++at) {
      number = number * 10 + static_cast<std::size_t>(*at - '0');
    }
    return std::tuple(std::string(name.begin(), digit), number, std::string(at, name.end()));
  };
  return key(a) < key(b);
}

bool IsPartOf(const std::string& name, const std::string& figure) {
  return figure.empty() || name == figure || name.starts_with(figure + "_") || name.ends_with("_" + figure);
}

Result<std::vector<std::string>> FoldersIn(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory()) names.push_back(at->path().filename().string());
  }
  if (error) {
    return NotFound(
        "cannot read the folder \"{}\" ({}); --scenarios FOLDER says where the papers' scenarios are", folder,
        error.message());
  }
  // The cluster's folder, which is no paper, comes last.
  std::ranges::sort(names, {}, [](const std::string& name) { return std::pair(name == "clusters", name); });
  return names;
}

Status AddFilesOf(const std::string& folder, const std::string& paper, std::vector<PaperFile>& files) {
  std::error_code error;
  std::vector<PaperFile> here;
  for (fs::directory_iterator at(fs::path(folder) / paper, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".toml") continue;
    LW_ASSIGN_OR_RETURN(const ScenarioFile file, ReadScenario(at->path().string()));
    if (file.study.title.empty()) continue;
    LW_RETURN_IF_ERROR(CheckFigureFile(at->path().string()));
    here.push_back({paper, at->path().stem().string(), at->path().string(), file.study.title});
  }
  if (error) return NotFound("cannot read the folder \"{}/{}\": {}", folder, paper, error.message());
  std::ranges::sort(here, ComesBefore, &PaperFile::figure);
  files.insert(files.end(), here.begin(), here.end());
  return Status::Ok();
}

}  // namespace

Result<std::vector<PaperFile>> FindPaperFiles(const std::string& folder, const std::string& paper,
                                              const std::string& figure) {
  LW_ASSIGN_OR_RETURN(const std::vector<std::string> papers, FoldersIn(folder));
  if (!paper.empty() && std::ranges::find(papers, paper) == papers.end()) {
    return InvalidArgument("unknown paper \"{}\"; known: {}{}", paper, fmt::join(papers, ", "),
                           DidYouMean(paper, papers));
  }
  std::vector<PaperFile> all;
  for (const std::string& each : papers) {
    if (paper.empty() || each == paper) {
      LW_RETURN_IF_ERROR(AddFilesOf(folder, each, all));
    }
  }
  std::vector<PaperFile> files;
  std::vector<std::string> known;
  for (const PaperFile& file : all) {
    known.push_back(file.figure);
    if (IsPartOf(file.figure, figure)) files.push_back(file);
  }
  if (files.empty()) {
    return InvalidArgument("{} has no \"{}\"; known: {}{}", paper.empty() ? folder : paper, figure,
                           fmt::join(known, ", "), DidYouMean(figure, known));
  }
  return files;
}

}  // namespace leeway::app
