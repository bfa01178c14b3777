#include "chart/page.h"

#include <fmt/format.h>

#include <set>

#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr int kHalfWidth = 400;  // pixels; two such figures stand beside each other on paper too

std::string_view ToneClass(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return " good";
    case Tone::kWarning:
      return " warning";
    case Tone::kBad:
      return " bad";
    case Tone::kPlain:
      break;
  }
  return "";
}

// Writes pieces one after the other; figures that follow each other share a row.
class PieceWriter {
 public:
  explicit PieceWriter(std::string& out) : out_(out) {}

  void operator()(const Paragraph& paragraph) {
    EndFigures();
    out_ += fmt::format("<p class=\"text{}\">{}</p>\n", ToneClass(paragraph.tone), Escaped(paragraph.text));
  }
  void operator()(const Cards& cards) {
    EndFigures();
    if (cards.cards.empty()) return;
    out_ += "<dl class=\"cards\">\n";
    for (const Card& card : cards.cards) {
      out_ +=
          fmt::format("<div class=\"card{}{}\"><dt>{}</dt><dd>{}</dd>", ToneClass(card.tone),
                      TextWidth(card.value, 1) > 7 ? " long" : "", Escaped(card.name), Escaped(card.value));
      if (!card.note.empty()) out_ += fmt::format("<dd class=\"note\">{}</dd>", Escaped(card.note));
      out_ += "</div>\n";
    }
    out_ += "</dl>\n";
  }
  void operator()(const Table& table) {
    EndFigures();
    out_ += TableHtml(table);
  }
  void operator()(const Figure& figure) {
    if (!in_figures_) out_ += "<div class=\"figures\">\n";
    in_figures_ = true;
    out_ += fmt::format("<figure{} style=\"flex-basis:{}px\">",
                        figure.drawing.width <= kHalfWidth ? " class=\"half\"" : "", figure.drawing.width);
    Add(figure.drawing, figure.narrow ? "scroll wide" : "scroll");
    if (figure.narrow) Add(*figure.narrow, "scroll narrow");
    if (!figure.caption.empty()) out_ += fmt::format("<figcaption>{}</figcaption>", Escaped(figure.caption));
    out_ += "</figure>\n";
  }
  void operator()(const Fold& fold) {
    EndFigures();
    out_ += fmt::format("<details{}><summary>{}</summary><pre>{}</pre></details>\n",
                        fold.open ? " open=\"open\"" : "", Escaped(fold.summary), Escaped(fold.text));
  }

  void EndFigures() {
    if (in_figures_) out_ += "</div>\n";
    in_figures_ = false;
  }

 private:
  void Add(const Drawing& drawing, std::string_view classes) {
    // Not smaller than three quarters: a narrower window scrolls, so that labels stay readable.
    out_ += fmt::format("<div class=\"{}\"><div style=\"min-width:{}px\">\n{}</div></div>\n", classes,
                        drawing.width * 3 / 4, InlineSvg(drawing));
  }

  std::string& out_;
  bool in_figures_ = false;
};

std::string Slug(std::string_view title) {
  std::string slug;
  for (const char c : title) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      slug += static_cast<char>(upper ? c - 'A' + 'a' : c);
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
    if (slug.size() >= 60) break;
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "section" : slug;
}

// This policy tells the browser to load nothing from anywhere, even if the page asks for it.
constexpr std::string_view kHead =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
    "<meta name=\"color-scheme\" content=\"light dark\"/>\n";

}  // namespace

std::vector<std::string> AnchorsOf(const std::vector<Section>& sections) {
  std::vector<std::string> anchors;
  std::set<std::string> taken;
  for (const Section& section : sections) {
    const std::string slug = Slug(section.title);
    std::string anchor = slug;
    for (int n = 2; !taken.insert(anchor).second; ++n) anchor = fmt::format("{}-{}", slug, n);
    anchors.push_back(std::move(anchor));
  }
  return anchors;
}

std::string PageHtml(const Page& page) {
  std::string out = fmt::format("{}<title>{}</title>\n<style>\n{}{}\n</style>\n</head>\n<body>\n", kHead,
                                Escaped(page.title), PageStyle(), DrawingStyle());
  out += fmt::format("<header><h1>{}</h1>", Escaped(page.title));
  if (!page.subtitle.empty()) out += fmt::format("<p>{}</p>", Escaped(page.subtitle));
  out += "</header>\n";
  const std::vector<std::string> anchors = AnchorsOf(page.sections);
  out += "<div class=\"body\">\n<nav aria-label=\"Sections\"><ul>\n";
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", anchors[i], Escaped(page.sections[i].title));
  }
  out += "</ul></nav>\n<main>\n";
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    out += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", anchors[i], Escaped(page.sections[i].title));
    PieceWriter writer(out);
    for (const Piece& piece : page.sections[i].pieces) std::visit(writer, piece);
    writer.EndFigures();
    out += "</section>\n";
  }
  out += "</main>\n</div>\n";
  if (!page.footer.empty()) out += fmt::format("<footer>{}</footer>\n", Escaped(page.footer));
  out += "</body>\n</html>\n";
  return out;
}

}  // namespace leeway::chart
