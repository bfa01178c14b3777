#include "papers/papers.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <vector>

#include "base/errors.h"
#include "chart/table.h"
#include "cli/command_line.h"
#include "papers/paper_report.h"
#include "problem/problem.h"
#include "simulate/study_table.h"
#include "system/text_file.h"
#include "terminal/error_output.h"

namespace leeway::app {
namespace {

Result<PaperResult> RunOne(const PapersOptions& options, const PaperFile& file,
                           const Registry<problem::Problem>& problems) {
  PaperResult result{.file = file, .finished = {}, .directions = {}, .skipped = {}, .quick = options.quick};
  SimulateOptions simulate;
  simulate.file = file.path;
  simulate.seed = options.seed;
  simulate.seeds = options.seeds;
  simulate.threads = options.threads;
  simulate.quick = options.quick;
  Result<Finished> finished = RunFile(simulate, problems);
  // The file has been read already, so the missing file holds data.
  if (!finished.ok() && finished.status().code() == StatusCode::kNotFound) {
    result.skipped = finished.status().message();
    return result;
  }
  if (!finished.ok()) return finished.status().WithContext(file.path);
  result.finished = std::move(*finished);
  Result<std::vector<Direction>> directions = DirectionsOf(result.finished.study, result.finished.words);
  if (!directions.ok()) return directions.status().WithContext(file.path);
  result.directions = std::move(*directions);
  return result;
}

void Print(const PaperResult& result) {
  fmt::print("\n{} {}: {}\n", result.file.paper, result.file.figure, result.file.title);
  if (!result.skipped.empty()) {
    fmt::print("  not run: {}\n", result.skipped);
    return;
  }
  const Finished& done = result.finished;
  fmt::print("{}", chart::TableText(TableOf(done.study, done.words), 2));
  if (!result.directions.empty()) {
    fmt::print("{}", chart::TableText(TableOfDirections(result.directions, done.study.seeds.size()), 2));
  }
  (void)std::fflush(stdout);
}

Status MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return NotFound("cannot make the folder \"{}\": {}", folder.string(), error.message());
  return Status::Ok();
}

Status WriteDocs(const std::string& folder, const std::vector<PaperResult>& results) {
  std::map<std::string, std::vector<PaperResult>> by_paper;
  for (const PaperResult& result : results) by_paper[result.file.paper].push_back(result);
  for (const auto& [paper, of_paper] : by_paper) {
    LW_RETURN_IF_ERROR(MakeFolder(std::filesystem::path(folder) / paper));
    for (const PaperResult& result : of_paper) {
      for (const TextFile& picture : PicturesOf(result)) {
        LW_RETURN_IF_ERROR(WriteTextFile(fmt::format("{}/{}", folder, picture.path), picture.text));
      }
    }
    LW_RETURN_IF_ERROR(WriteTextFile(fmt::format("{}/{}.md", folder, paper), PaperMarkdown(of_paper)));
  }
  return Status::Ok();
}

}  // namespace

Result<int> ListPapers(const PapersOptions& options) {
  LW_ASSIGN_OR_RETURN(const std::vector<PaperFile> files,
                      FindPaperFiles(options.scenarios, options.paper, options.figure));
  for (const PaperFile& file : files) fmt::print("{:<10} {:<26} {}\n", file.paper, file.figure, file.title);
  return 0;
}

Result<int> RunPapers(const PapersOptions& options) {
  LW_ASSIGN_OR_RETURN(const std::vector<PaperFile> files,
                      FindPaperFiles(options.scenarios, options.paper, options.figure));
  if (!options.docs.empty() && !options.figure.empty()) {
    return InvalidArgument(
        "--docs: got one figure, \"{}\"; a paper's Markdown has all of them, so wanted no FIGURE",
        options.figure);
  }
  const Registry<problem::Problem>& problems = problem::BuiltinProblems();
  std::vector<PaperResult> results;
  int code = 0;
  for (const PaperFile& file : files) {
    LW_ASSIGN_OR_RETURN(PaperResult result, RunOne(options, file, problems));
    Print(result);
    if (!result.skipped.empty())
      PrintError("leeway: {} {} was not run: {}\n", file.paper, file.figure, result.skipped);
    if (!scenario::ErrorsOf(result.finished.study).empty()) code = kFailedExitCode;
    results.push_back(std::move(result));
  }
  if (!options.out.empty()) {
    LW_RETURN_IF_ERROR(MakeFolder(options.out));
    const std::string path = options.out + "/report.html";
    LW_RETURN_IF_ERROR(WriteTextFile(path, PapersHtml(results)));
    PrintError("leeway: wrote {}\n", path);
  }
  if (!options.docs.empty()) {
    LW_RETURN_IF_ERROR(WriteDocs(options.docs, results));
  }
  return code;
}

}  // namespace leeway::app
