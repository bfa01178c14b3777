#include "sync.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "figures.h"
#include "range.h"
#include "sync_bed.h"

namespace leeway::bench {
namespace {

constexpr std::size_t kSizes = kSyncWorkers.size();

// Arguments with which models are measured; {n} is three quarters of the workers. A model that is not here
// has none.
const std::map<std::string, std::string, std::less<>>& Arguments() {
  static const std::map<std::string, std::string, std::less<>> arguments = {
      {"asp", ""},
      {"bounded", ":3"},
      {"bsp", ""},
      {"drop", ":{n}"},
      {"dsps", ":0,3,10"},
      {"dssp", ":1,3"},
      {"psp", ":{n},1"},
      {"pssp", ":3,0.5"},
      {"ssp", ":3"},
      {"ssptable", ":3"},
      {"when", R"(:pull="progress < v_train + s",push="count >= workers",s=3)"},
  };
  return arguments;
}

// One model with one number of workers, and what its turns gave.
struct Case {
  std::unique_ptr<SyncBed> bed;
  std::vector<SyncBed::Costs> turns;
  [[nodiscard]] std::vector<double> Of(SyncBed::Event event) const {
    std::vector<double> ns;
    for (const SyncBed::Costs& turn : turns) ns.push_back(turn[static_cast<std::size_t>(event)]);
    return ns;
  }
};
using Sizes = std::array<Case, kSizes>;

SyncCost Summarize(const Sizes& sizes, SyncBed::Event event) {
  SyncCost cost;
  std::vector<std::vector<double>> ns;
  for (std::size_t i = 0; i < kSizes; ++i) {
    ns.push_back(sizes[i].Of(event));
    cost.ns[i] = Median(ns[i]);
    cost.spread = std::max(cost.spread, Spread(ns[i]));
  }
  std::vector<double> ratios;
  for (std::size_t turn = 0; turn < ns[0].size(); ++turn) ratios.push_back(ns.back()[turn] / ns[0][turn]);
  cost.ratio = Median(ratios);
  return cost;
}

// Turn by turn, what the formula took more, for the middle number of workers.
double Extra(const Sizes& formula, const Sizes& plain, SyncBed::Event event) {
  std::vector<double> extra;
  const std::vector<double> with = formula[1].Of(event), without = plain[1].Of(event);
  for (std::size_t turn = 0; turn < with.size(); ++turn) extra.push_back(with[turn] - without[turn]);
  return Median(extra);
}

// The models of the registry in two halves, and asp spread out.
struct Plan {
  std::string model, spec;
  SyncBed::Places places = SyncBed::Places::kTwoHalves;
};
std::vector<Plan> PlansFor(const SyncSpecs& specs) {
  std::vector<Plan> plans;
  for (const auto& [model, spec] : specs.measured) plans.push_back({model, spec});
  plans.push_back({"asp spread", "asp", SyncBed::Places::kSpread});
  return plans;
}

std::string CostJson(const SyncCost& cost) {
  return JsonLine()
      .Reals("ns", {cost.ns.begin(), cost.ns.end()})
      .Real("ratio", cost.ratio)
      .Real("spread", cost.spread, 3)
      .Done();
}

}  // namespace

SyncSpecs SyncBenchSpecs(const Registry<SyncModel>& models, std::uint32_t workers) {
  SyncSpecs specs;
  for (const std::string& name : models.names()) {
    std::string spec = name;
    if (const auto found = Arguments().find(name); found != Arguments().end()) {
      spec += found->second;
    } else if (const Status plain = models.MakeFromSpec(name).status(); !plain.ok()) {
      specs.left_out.push_back(fmt::format("{}: {}", name, plain.message()));
      continue;
    }
    if (const auto at = spec.find("{n}"); at != std::string::npos)
      spec.replace(at, 3, std::to_string(workers * 3 / 4));
    specs.measured.push_back({name, std::move(spec)});
  }
  return specs;
}

Result<SyncReport> RunSync(const SyncOptions& options) {
  LW_RETURN_IF_ERROR(CheckRange("repeats", options.repeats, 1, 50));
  if (options.pairs < 2048 || options.pairs > 1U << 24)
    return InvalidArgument("pairs: got {}, wanted 2048 to {}", options.pairs, 1U << 24);
  SyncReport report;
  report.options = options;
  const BusyMeter meter;

  std::vector<Sizes> cases;
  for (std::size_t i = 0; i < kSizes; ++i) {
    const SyncSpecs specs = SyncBenchSpecs(BuiltinSyncModels(), kSyncWorkers[i]);
    report.left_out = specs.left_out;
    const std::vector<Plan> plans = PlansFor(specs);
    cases.resize(plans.size());
    for (std::size_t m = 0; m < plans.size(); ++m) {
      const Plan& plan = plans[m];
      LW_ASSIGN_OR_RETURN(cases[m][i].bed, SyncBed::Make(plan.spec, kSyncWorkers[i], plan.places));
      if (i == 0) report.rows.push_back({.model = plan.model, .spec = plan.spec});
    }
  }
  // The first turn warms up.
  for (std::uint32_t turn = 0; turn <= options.repeats; ++turn) {
    for (std::size_t m = 0; m < cases.size(); ++m) {
      for (Case& size : cases[m]) {
        Result<SyncBed::Costs> costs = size.bed->Turn(options.pairs);
        if (!costs.ok()) return costs.status().WithContext(report.rows[m].spec);
        if (turn > 0) size.turns.push_back(*costs);
      }
    }
  }
  std::map<std::string, const Sizes*> by_model;
  for (std::size_t m = 0; m < cases.size(); ++m) {
    SyncRow& row = report.rows[m];
    row.push = Summarize(cases[m], SyncBed::Event::kPush);
    row.absent = Summarize(cases[m], SyncBed::Event::kAbsent);
    row.pull = Summarize(cases[m], SyncBed::Event::kPull);
    for (const SyncCost* cost : {&row.push, &row.absent, &row.pull})
      report.ratio_max = std::max(report.ratio_max, cost->ratio);
    by_model[row.model] = &cases[m];
  }
  if (by_model.contains("when") && by_model.contains("ssp")) {
    const Sizes &formula = *by_model["when"], &plain = *by_model["ssp"];
    report.formula = {.spec = "when" + Arguments().at("when"),
                      .against = "ssp" + Arguments().at("ssp"),
                      .push_extra_ns = Extra(formula, plain, SyncBed::Event::kPush),
                      .pull_extra_ns = Extra(formula, plain, SyncBed::Event::kPull)};
  }
  report.busy = meter.End();
  return report;
}

std::string ToJson(const SyncReport& report) {
  std::vector<std::string> rows, left_out;
  for (const SyncRow& row : report.rows) {
    rows.push_back(JsonLine()
                       .Text("model", row.model)
                       .Text("spec", row.spec)
                       .Raw("push", CostJson(row.push))
                       .Raw("absent", CostJson(row.absent))
                       .Raw("pull", CostJson(row.pull))
                       .Done());
  }
  for (const std::string& model : report.left_out) left_out.push_back(JsonText(model));
  std::string formula = "null";
  if (report.formula) {
    formula = JsonLine()
                  .Text("spec", report.formula->spec)
                  .Text("against", report.formula->against)
                  .Real("push_extra_ns", report.formula->push_extra_ns)
                  .Real("pull_extra_ns", report.formula->pull_extra_ns)
                  .Done();
  }
  return JsonLine()
      .Text("bench", "sync")
      .Raw("workers", fmt::format("[{}]", fmt::join(kSyncWorkers, ",")))
      .Whole("repeats", report.options.repeats)
      .Whole("pairs", report.options.pairs)
      .Each("models", rows)
      .Each("left_out", left_out)
      .Real("ratio_max", report.ratio_max)
      .Raw("formula", formula)
      .All(JsonOf(report.busy))
      .Done();
}

std::string TooMuch(const SyncReport& report) {
  std::string text;
  for (const SyncRow& row : report.rows) {
    for (const auto& [event, cost] : {std::pair("push", &row.push), std::pair("absent push", &row.absent),
                                      std::pair("pull", &row.pull)}) {
      if (cost->ratio <= kSyncRatioMax) continue;
      text += fmt::format(
          "{}: a {} with {} workers costs {:.2f} times what it does with {}, wanted at most {}\n", row.model,
          event, kSyncWorkers.back(), cost->ratio, kSyncWorkers.front(), kSyncRatioMax);
    }
  }
  if (!report.formula) return text;
  const double extra = std::max(report.formula->push_extra_ns, report.formula->pull_extra_ns);
  if (extra > kFormulaExtraNsMax) {
    text += fmt::format("a formula costs {:.0f} ns more, wanted at most {:.0f}\n", extra, kFormulaExtraNsMax);
  }
  return text;
}

std::string ToText(const SyncReport& report) {
  std::string text =
      fmt::format("nanoseconds per event of a block with {} workers, and the last against the first\n\n",
                  fmt::join(kSyncWorkers, ", "));
  text += fmt::format("{:<11}{:>27}{:>27}{:>27}\n", "", "push", "absent", "pull");
  for (const SyncRow& row : report.rows) {
    text += fmt::format("{:<11}", row.model);
    for (const SyncCost* cost : {&row.push, &row.absent, &row.pull}) {
      text +=
          fmt::format("{:>7.0f}{:>7.0f}{:>7.0f}{:>6.2f}", cost->ns[0], cost->ns[1], cost->ns[2], cost->ratio);
    }
    text += '\n';
  }
  text += fmt::format("\nworst ratio {:.2f}\n", report.ratio_max);
  if (report.formula) {
    text += fmt::format("{} costs {:.0f} ns more per push and {:.0f} ns more per pull than {}\n",
                        report.formula->spec, report.formula->push_extra_ns, report.formula->pull_extra_ns,
                        report.formula->against);
  }
  for (const std::string& model : report.left_out) {
    text += fmt::format("left out: {} (its arguments for this bench go into bench/sync.cc)\n", model);
  }
  return text + TextOf(report.busy);
}

}  // namespace leeway::bench
