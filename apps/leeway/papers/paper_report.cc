#include "papers/paper_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "chart/drawing.h"
#include "chart/table.h"
#include "simulate/study_report.h"
#include "simulate/study_table.h"

namespace leeway::app {
namespace {

// How a paper is called: title, and where it is from.
std::string NameOf(const std::string& paper) {
  static const std::map<std::string, std::string> names = {
      {"fluentps", "FluentPS"}, {"psp_sgd", "PSP-SGD"}, {"clusters", "The simulated clusters"}};
  const auto found = names.find(paper);
  return found == names.end() ? paper : found->second;
}

std::string PicturePath(const PaperResult& result, const std::string& plot) {
  return fmt::format("{}/{}_{}.svg", result.file.paper, result.file.figure, plot);
}

std::string FigureMarkdown(const PaperResult& result) {
  std::string text = fmt::format("## {}\n\n", result.file.title);
  if (!result.skipped.empty()) return text + fmt::format("Not run: {}\n\n", result.skipped);
  const Finished& done = result.finished;
  for (const std::string& paragraph : done.words.texts) text += paragraph + "\n\n";
  for (const std::string& error : scenario::ErrorsOf(done.study)) text += fmt::format("**{}**\n\n", error);
  text += fmt::format("```\n{}\n```\n\n", CommandOf(result));
  text += chart::TableMarkdown(TableOf(done.study, done.words)) + "\n";
  if (!result.directions.empty()) {
    text += chart::TableMarkdown(TableOfDirections(result.directions, done.study.seeds.size())) + "\n";
  }
  for (const NamedDrawing& plot : PlotsOf(done.study, done.words)) {
    text += fmt::format("![{}]({})\n\n", plot.second.title, PicturePath(result, plot.first));
  }
  return text;
}

chart::Section SectionOfResult(const PaperResult& result) {
  if (!result.skipped.empty()) {
    return {
        .title = result.file.title,
        .pieces = {chart::Paragraph{.text = "Not run: " + result.skipped, .tone = chart::Tone::kWarning}}};
  }
  chart::Section section = SectionOf(result.finished.study, result.finished.words);
  section.title = fmt::format("{}: {}", NameOf(result.file.paper), result.file.title);
  if (!result.directions.empty()) {
    // After the table, before the plots.
    const auto table = std::ranges::find_if(section.pieces, [](const chart::Piece& piece) {
      return std::holds_alternative<chart::Table>(piece);
    });
    section.pieces.insert(table == section.pieces.end() ? table : table + 1,
                          TableOfDirections(result.directions, result.finished.study.seeds.size()));
  }
  section.pieces.push_back(chart::Fold{.summary = "The command", .text = CommandOf(result)});
  return section;
}

}  // namespace

std::string CommandOf(const PaperResult& result) {
  const std::vector<std::uint64_t>& seeds = result.finished.study.seeds;
  std::string command = fmt::format("leeway papers {} {}{}", result.file.paper, result.file.figure,
                                    result.quick ? " --quick" : "");
  if (seeds.empty()) return command;
  if (seeds[0] != 1) command += fmt::format(" --seed {}", seeds[0]);
  return command + fmt::format(" --seeds {}", seeds.size());
}

std::string PaperMarkdown(const std::vector<PaperResult>& results) {
  std::string text = fmt::format("# {}: the paper's figures beside ours\n\n", NameOf(results[0].file.paper));
  text += fmt::format(
      "Written by `make papers`; do not edit. What it says of differences stands in the scenario files, "
      "`scenarios/papers/{}`; the clusters are those of `scenarios/papers/clusters`, which every figure of a "
      "cluster includes and none changes. Times are simulated.\n\n",
      results[0].file.paper);
  for (const PaperResult& result : results) text += FigureMarkdown(result);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

std::vector<TextFile> PicturesOf(const PaperResult& result) {
  std::vector<TextFile> files;
  if (!result.skipped.empty()) return files;
  for (const NamedDrawing& plot : PlotsOf(result.finished.study, result.finished.words)) {
    files.push_back({PicturePath(result, plot.first), chart::SvgText(plot.second)});
  }
  return files;
}

std::string PapersHtml(const std::vector<PaperResult>& results) {
  chart::Page page;
  page.title = "The papers' figures beside ours";
  page.subtitle = "Simulated clusters, the true node code, real gradients";
  for (const PaperResult& result : results) page.sections.push_back(SectionOfResult(result));
  page.footer = "Made by leeway papers. The same scenarios and seeds give the same page.";
  return chart::PageHtml(page);
}

}  // namespace leeway::app
