// when: the two conditions as the user's own formulas (FluentPS's SetcondPull and SetcondPush, section
// III.B).
//
//   when:pull="progress < v_train + s || rand > p",push="count >= workers",s=3,p=0.5
//
// The state is v_train, workers (members of iteration v_train), count, fastest, slowest. A pull also has
// progress, gap (progress - v_train), significance and rand, its coin. A value that is not finite counts as
// no.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/errors.h"
#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/formula.h"
#include "sync/sync_policy.h"
#include "sync/when_grid.h"

namespace leeway {
namespace {

// `sync model "when": pull "progres < 3": position 1: ...`
Status AboutFormula(const char* which, const std::string& text, const Status& status) {
  return InvalidArgument("sync model \"when\": {} \"{}\": {}", which, text, status.message());
}

class When final : public SyncModel {
 public:
  When(std::unique_ptr<Formula> pull, std::unique_ptr<Formula> push, std::string constants)
      : pull_(std::move(pull)), push_(std::move(push)), constants_(std::move(constants)) {}

  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    Show(*pull_, view);
    pull_->Set(kProgress, static_cast<double>(progress.value()));
    pull_->Set(kGap, static_cast<double>(progress - view.v_train));
    pull_->Set(kSignificance, view.significance);
    pull_->Set(kRand, view.coin);
    return Holds(*pull_) ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    Show(*push_, view);
    return Holds(*push_) ? Advance::Yes() : Advance::No();
  }
  Status Try() const override {
    if (const Status tried = TryPullCondition(*pull_); !tried.ok())
      return AboutFormula("pull", pull_->text(), tried);
    Status pushes = TryPushCondition(*push_);
    if (pushes.ok()) pushes = TryConditionsTogether(*pull_, *push_);
    return pushes.ok() ? pushes : AboutFormula("push", push_->text(), pushes);
  }
  // A formula may let workers run ahead without bound.
  std::optional<std::int64_t> Lead() const override { return std::nullopt; }
  const char* DefaultApply() const override { return "immediate"; }
  std::string PullCondition() const override { return pull_->text() + constants_; }
  std::string PushCondition() const override { return push_->text() + constants_; }

 private:
  static void Show(Formula& formula, const SyncView& view) {
    formula.Set(kVTrain, static_cast<double>(view.v_train.value()));
    if (formula.Uses(kWorkers)) formula.Set(kWorkers, view.MembersAt(view.v_train));
    if (formula.Uses(kCount)) formula.Set(kCount, view.CountAt(view.v_train));
    if (formula.Uses(kFastest)) formula.Set(kFastest, static_cast<double>(view.progress.Fastest().value()));
    if (formula.Uses(kSlowest)) formula.Set(kSlowest, static_cast<double>(view.progress.Slowest().value()));
  }
  static bool Holds(Formula& formula) {
    const double value = formula.Value();
    return std::isfinite(value) && value != 0.0;
  }

  // One shard's thread calls a model, and so its formulas.
  const std::unique_ptr<Formula> pull_, push_;
  const std::string constants_;
};

using Constants = std::vector<PolicyConfig::Constant>;

// ` (s = 3, p = 0.5)`: the constants of a condition, for people.
std::string Listed(const Constants& constants) {
  std::string text;
  for (const PolicyConfig::Constant& constant : constants) {
    text += fmt::format("{}{} = {}", text.empty() ? " (" : ", ", constant.name, constant.value);
  }
  return text.empty() ? text : text + ")";
}

}  // namespace

Result<SyncModelPtr> MakeWhen(const PolicyConfig& config) {
  if (!config.HasKey("pull") && !config.HasKey("push")) {
    return InvalidArgument(
        "sync model \"when\": got neither pull nor push, wanted a condition, such as "
        "when:pull=\"progress < v_train + s\",s=3");
  }
  LW_ASSIGN_OR_RETURN(const std::string pull, config.KeyedText("pull", "a formula", "progress < v_train"));
  LW_ASSIGN_OR_RETURN(const std::string push, config.KeyedText("push", "a formula", "count >= workers"));
  LW_ASSIGN_OR_RETURN(const Constants constants, config.OtherConstants(SyncPolicyKeys()));

  Result<std::unique_ptr<Formula>> on_pull = Formula::Make(pull, PullNames(), constants, {});
  if (!on_pull.ok()) return AboutFormula("pull", pull, on_pull.status());

  Result<std::unique_ptr<Formula>> on_push = Formula::Make(push, PushNames(), constants, NamesOfPullsOnly());
  if (!on_push.ok()) return AboutFormula("push", push, on_push.status());
  return SyncModelPtr(
      std::make_unique<When>(std::move(on_pull).value(), std::move(on_push).value(), Listed(constants)));
}

}  // namespace leeway
