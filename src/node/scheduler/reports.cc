#include "node/scheduler/reports.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

namespace leeway {
namespace {

// These figures describe a live node, and mean nothing once it is gone.
constexpr std::array<std::string_view, 5> kGauges{"blocks", "first_gradients", "iteration", "values_bytes",
                                                  "waiting"};

// A peer may report any number.
TimePoint Before(TimePoint now, double age_s) {
  constexpr double kAgeMax_s = 1e8;
  return now - std::chrono::duration_cast<Duration>(
                   std::chrono::duration<double>(std::clamp(age_s, 0.0, kAgeMax_s)));
}

}  // namespace

Iteration Reports::Fastest() const {
  Iteration fastest = fastest_before;
  for (const auto& [worker, report] : workers) fastest = std::max(fastest, report.iteration());
  return fastest;
}

Duration Reports::Training() const {
  std::optional<TimePoint> began, ended;
  for (const auto& [worker, report] : workers) {
    if (report.training_began())
      began = std::min(began.value_or(*report.training_began()), *report.training_began());
    if (report.step_ended()) ended = std::max(ended.value_or(*report.step_ended()), *report.step_ended());
  }
  return began && ended ? std::max(*ended - *began, Duration(0)) : Duration(0);
}

void NodeReport::EndLife() {
  for (const auto& [name, value] : newest_.all()) {
    if (std::ranges::find(kGauges, name) == kGauges.end()) base_.Add(name, value);
  }
  for (const wire::pb::TableReport& row : tables_) {
    if (row.more_tables() > 0) continue;
    table_bases_[row.table()] = {row.dpr(), row.waited_s()};  // with those before it
  }
}

void NodeReport::Take(const wire::pb::Report& report, std::uint64_t life, TimePoint now) {
  if (life_ && *life_ != life) EndLife();
  life_ = life;
  iteration_ = Iteration(report.iteration());
  waiting_for_ = report.waiting_for();
  moment_ = report.moment();
  at_ = now;
  // Ages travel, not times: clocks of hosts differ.
  if (moment_.training_s() > 0) {
    const TimePoint began = Before(now, moment_.training_s());
    training_began_ = std::min(training_began_.value_or(began), began);
  }
  if (moment_.since_step_s() > 0) {
    const TimePoint ended = Before(now, moment_.since_step_s());
    step_ended_ = std::max(step_ended_.value_or(ended), ended);
  }
  has_final_ = report.has_final();
  newest_ = Figures();
  for (const auto& [name, value] : report.values()) newest_.Set(name, value);
  figures_ = base_;
  figures_.AddAll(newest_);
  const auto first = [](const auto& list, int most) {
    return std::vector(list.begin(), list.begin() + std::min(list.size(), most));
  };
  tables_ = first(report.tables(), kRowsMax);
  models_ = first(report.models(), kModelsMax);
  for (wire::pb::TableReport& row : tables_) {
    const auto base = table_bases_.find(row.table());
    if (row.more_tables() > 0 || base == table_bases_.end()) continue;
    row.set_dpr(row.dpr() + base->second.dpr);
    row.set_waited_s(row.waited_s() + base->second.waited_s);
  }
}

std::uint64_t Reports::Lost() const {
  std::uint64_t lost = 0;
  for (const auto& [worker, report] : workers)
    lost += static_cast<std::uint64_t>(report.figures().Get("lost"));
  return lost;
}

TimePoint Reports::Began(TimePoint started) const {
  for (const auto& [worker, report] : workers)
    started = std::min(started, report.training_began().value_or(started));
  return started;
}

}  // namespace leeway
