#include "chart/span_merging.h"

#include <algorithm>
#include <cmath>

namespace leeway::chart {
namespace {

constexpr double kVisible = 1.5;  // pixels
constexpr double kMergedWidth =
    2;  // pixels of a stretch of merged spans, so that a row has a few hundred at most

// The share of each kind in each stretch of some pixels.
class Shares {
 public:
  Shares(double left, double right, std::size_t kinds)
      : left_(left),
        stretches_(static_cast<std::size_t>(std::ceil((right - left) / kMergedWidth))),
        kinds_(kinds),
        shares_(stretches_ * kinds),
        covered_(stretches_) {}

  // A span that is drawn by itself.
  void Cover(double begin, double end) {
    ForEach(begin, end, [&](std::size_t stretch, double share) { covered_[stretch] += share; });
  }
  void Add(std::size_t kind, double begin, double end) {
    Cover(begin, end);
    // Even a span of no length leaves a trace where nothing else is.
    ForEach(begin, end, [&](std::size_t stretch, double share) {
      shares_[stretch * kinds_ + kind] += std::max(1e-9, share);
    });
  }

  void AppendTo(std::vector<PixelSpan>& out) const {
    for (std::size_t stretch = 0; stretch < stretches_;) {
      const std::size_t kind = Largest(stretch);
      const int thirds = Thirds(stretch);
      std::size_t end = stretch + 1;
      while (end < stretches_ && Largest(end) == kind && Thirds(end) == thirds) ++end;
      if (kind < kinds_) out.push_back({kind, BeginOf(stretch), BeginOf(end), nullptr, thirds});
      stretch = end;
    }
  }

 private:
  [[nodiscard]] double BeginOf(std::size_t stretch) const {
    return left_ + static_cast<double>(stretch) * kMergedWidth;
  }
  [[nodiscard]] std::size_t StretchAt(double x) const {
    return std::min(static_cast<std::size_t>(std::max(0.0, x - left_) / kMergedWidth), stretches_ - 1);
  }
  // Returns kinds_ if no kind fits.
  [[nodiscard]] std::size_t Largest(std::size_t stretch) const {
    const double* shares = &shares_[stretch * kinds_];
    const double* largest = std::max_element(shares, shares + kinds_);
    return *largest > 0 ? static_cast<std::size_t>(largest - shares) : kinds_;
  }

  [[nodiscard]] int Thirds(std::size_t stretch) const {
    return static_cast<int>(std::clamp(std::ceil(covered_[stretch] / kMergedWidth * 3 - 0.1), 1.0, 3.0));
  }
  template <typename Visit>
  void ForEach(double begin, double end, Visit visit) const {
    const std::size_t last = StretchAt(end);
    for (std::size_t stretch = StretchAt(begin); stretch <= last; ++stretch) {
      visit(stretch, std::max(0.0, std::min(end, BeginOf(stretch + 1)) - std::max(begin, BeginOf(stretch))));
    }
  }

  double left_;
  std::size_t stretches_;
  std::size_t kinds_;
  std::vector<double> shares_;   // by stretch and kind
  std::vector<double> covered_;  // by stretch
};

}  // namespace

std::vector<PixelSpan> MergedSpans(std::span<const Span> spans, std::size_t kinds, const Scale& scale,
                                   double left, double right) {
  std::vector<PixelSpan> out;
  if (kinds == 0) return out;
  Shares shares(left, right, kinds);
  std::vector<PixelSpan> wide;
  // A row has room for this many visible spans; more of them overlap, and are merged like the others.
  const auto wide_max = static_cast<std::size_t>((right - left) / kVisible);
  for (const Span& one : spans) {
    const double begin = scale.At(one.begin);
    const double end = scale.At(one.end);
    if (one.kind >= kinds || std::isnan(begin) || std::isnan(end) || begin > end) continue;
    if (end < left || begin > right) continue;
    const double from = std::max(begin, left);
    const double to = std::min(end, right);
    if (to - from >= kVisible && wide.size() < wide_max) {
      wide.push_back({one.kind, from, to, &one});
      shares.Cover(from, to);
    } else {
      shares.Add(one.kind, from, to);
    }
  }
  shares.AppendTo(out);
  out.insert(out.end(), wide.begin(), wide.end());
  return out;
}

}  // namespace leeway::chart
