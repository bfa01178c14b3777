// PSSP: a worker that is `s` or more iterations ahead waits only with a probability (FluentPS, section
// III.E).
//
//   pssp:s,c                    constant: with probability c
//   pssp:s,alpha=a              dynamic: with alpha / (1 + e^(s - k)), k = progress - v_train
//   pssp:s,alpha=significance   the same with alpha = min(1, |g| / |w|) of the pulling worker's last gradient
//
// c = 1 is ssp:s, c = 0 is asp. The view holds the coin, so a repeated pull gets the same answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/errors.h"
#include "base/number_from.h"
#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/everyone.h"

namespace leeway {
namespace {

class Pssp : public SyncModel {
 public:
  explicit Pssp(std::int64_t s) : s_(s) {}
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    const std::int64_t gap = progress - view.v_train;
    if (gap < s_) return PullVerdict::kNow;
    return view.coin > WaitProbability(view, gap) ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override { return WhenEveryoneIsIn(view); }
  std::optional<std::int64_t> Lead() const override { return std::nullopt; }
  const char* DefaultApply() const override { return "immediate"; }
  std::string PushCondition() const override { return kEveryoneIsIn; }

 protected:
  // REQUIRES: gap >= s.
  virtual double WaitProbability(const SyncView& view, std::int64_t gap) const = 0;
  std::int64_t s() const { return s_; }

 private:
  const std::int64_t s_;
};

class ConstantPssp final : public Pssp {
 public:
  ConstantPssp(std::int64_t s, double c) : Pssp(s), c_(c) {}
  std::string PullCondition() const override {
    return fmt::format("progress < v_train + {} or coin > {}", s(), c_);
  }

 private:
  double WaitProbability(const SyncView&, std::int64_t) const override { return c_; }

  const double c_;
};

class DynamicPssp final : public Pssp {
 public:
  // Without an alpha the model uses the significance of the pull.
  DynamicPssp(std::int64_t s, std::optional<double> alpha) : Pssp(s), alpha_(alpha) {}
  std::string PullCondition() const override {
    const std::string alpha = alpha_ ? fmt::format("{}", *alpha_) : "min(1, significance)";
    return fmt::format("progress < v_train + {} or coin > {} / (1 + e^({} - gap))", s(), alpha, s());
  }

 private:
  double WaitProbability(const SyncView& view, std::int64_t gap) const override {
    return alpha_.value_or(Significance(view)) / (1.0 + std::exp(static_cast<double>(s() - gap)));
  }
  // A worker may report any number: larger ones count as 1, and so do negative ones and NaN.
  static double Significance(const SyncView& view) {
    return view.significance >= 0.0 ? std::min(view.significance, 1.0) : 1.0;
  }

  const std::optional<double> alpha_;
};

Result<SyncModelPtr> MakeDynamicPssp(const PolicyConfig& config, std::int64_t s) {
  constexpr const char* kWanted = "a number from 0 to 1, or significance";
  if (config.HasKey("c")) {
    return InvalidArgument(
        "sync model \"{}\": got both c and alpha, wanted one: c is a constant probability, "
        "alpha one that grows with the gap",
        config.name());
  }
  LW_ASSIGN_OR_RETURN(const std::string text, config.KeyedText("alpha", kWanted));
  if (text == "significance") return SyncModelPtr(std::make_unique<DynamicPssp>(s, std::nullopt));
  const auto alpha = NumberFrom<double>(text);
  if (!alpha || !(*alpha >= 0.0 && *alpha <= 1.0)) {
    const std::vector<std::string> words = {"significance"};
    return InvalidArgument("sync model \"{}\": alpha: got \"{}\", wanted {}{}", config.name(), text, kWanted,
                           DidYouMean(text, words));
  }
  return SyncModelPtr(std::make_unique<DynamicPssp>(s, alpha));
}

}  // namespace

Result<SyncModelPtr> MakePssp(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t s, config.IntInRange("s", 0, 1'000'000));
  if (config.HasKey("alpha")) return MakeDynamicPssp(config, s);
  const Result<double> c = config.DoubleInRange("c", 0.0, 1.0);
  if (!c.ok()) {
    return InvalidArgument("{} (or alpha=0.8 or alpha=significance, for one that grows with the gap)",
                           c.status().message());
  }
  return SyncModelPtr(std::make_unique<ConstantPssp>(s, *c));
}

}  // namespace leeway
