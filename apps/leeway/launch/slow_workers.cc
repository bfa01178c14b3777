#include "launch/slow_workers.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string_view>

#include "base/errors.h"
#include "base/number_from.h"
#include "terminal/quantity.h"

namespace leeway::app {
namespace {

constexpr std::uint32_t kRankMax = 4095;
constexpr double kFactorMax = 1000;
constexpr std::uint32_t kIterationsMax = 1'000'000;
constexpr std::chrono::milliseconds kPauseMax{3'600'000};

// "4x".
std::optional<double> FactorOf(std::string_view text) {
  if (!text.ends_with("x")) return std::nullopt;
  const auto factor = NumberFrom<double>(text.substr(0, text.size() - 1));
  return factor && *factor >= 1 && *factor <= kFactorMax ? factor : std::nullopt;
}

// "4x,5-10".
std::optional<std::string> RotationOf(std::string_view text) {
  const std::size_t comma = text.find(','), dash = text.find('-');
  if (comma == std::string_view::npos || dash == std::string_view::npos || dash < comma) return std::nullopt;
  const auto factor = FactorOf(text.substr(0, comma));
  const auto low = NumberFrom<std::uint32_t>(text.substr(comma + 1, dash - comma - 1));
  const auto high = NumberFrom<std::uint32_t>(text.substr(dash + 1));
  if (!factor || !low || !high || *low < 1 || *low > *high || *high > kIterationsMax) return std::nullopt;
  return fmt::format("rotate {} {} {}", *factor, *low, *high);
}

// "200ms,0.05".
std::optional<std::string> PausesOf(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const Result<std::chrono::milliseconds> pause = ParseTime(text.substr(0, comma));
  const auto chance = NumberFrom<double>(text.substr(comma + 1));
  if (!pause.ok() || pause->count() < 1 || *pause > kPauseMax) return std::nullopt;
  if (!chance || !(*chance > 0 && *chance <= 1)) return std::nullopt;
  return fmt::format("pauses {} {}", static_cast<double>(pause->count()) / 1000, *chance);
}

}  // namespace

Status SlowWorkers::Take(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string_view all(text);
  const std::string_view name = all.substr(0, colon);
  const std::string_view rest = colon == std::string::npos ? std::string_view() : all.substr(colon + 1);
  const bool rotates = name == "rotate", pauses = name == "pauses";
  if (rotates || pauses) {
    const std::optional<std::string> pattern = rotates ? RotationOf(rest) : PausesOf(rest);
    if (!pattern) {
      return InvalidArgument(
          "got \"{}\", wanted {}", text,
          rotates
              ? "rotate:FACTORx,LOW-HIGH with a factor from 1 to 1000 and a number of iterations, such as "
                "rotate:4x,5-10"
              : "pauses:TIME,CHANCE with a time up to 1h and a chance above 0 and at most 1, such as "
                "pauses:200ms,0.05");
    }
    if (!pattern_.empty() && pattern_ != *pattern) {
      return InvalidArgument("got \"{}\" beside another of rotate and pauses, wanted one of them", text);
    }
    pattern_ = *pattern;
    return Status::Ok();
  }
  const auto rank = NumberFrom<std::uint32_t>(name);
  const auto factor = FactorOf(rest);
  if (!rank || *rank > kRankMax || !factor) {
    return InvalidArgument(
        "got \"{}\", wanted RANK:FACTORx with a factor from 1 to 1000, such as 3:4x, or rotate:4x,5-10, or "
        "pauses:200ms,0.05",
        text);
  }
  factors_[*rank] = *factor;
  return Status::Ok();
}

Status SlowWorkers::Check(std::uint32_t workers) const {
  if (factors_.empty() || factors_.rbegin()->first < workers) return Status::Ok();
  return InvalidArgument("got rank {}, wanted 0 to {} ({} workers)", factors_.rbegin()->first, workers - 1,
                         workers);
}

void SlowWorkers::SetVariables(std::uint32_t rank, std::uint64_t seed, Environment& environment) const {
  if (const auto slow = factors_.find(rank); slow != factors_.end()) {
    environment.Set("LEEWAY_SLOWDOWN", fmt::format("{}", slow->second));
  }
  if (!pattern_.empty()) environment.Set("LEEWAY_SLOW_PATTERN", fmt::format("{} {}", pattern_, seed));
}

}  // namespace leeway::app
