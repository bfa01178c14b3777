#include "node/scheduler/reports.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace leeway {
namespace {

// These say how a node stands, not what it has done: of one that is gone they mean nothing.
constexpr std::array<std::string_view, 5> kGauges{"blocks", "first_gradients", "iteration", "values_bytes",
                                                  "waiting"};

}  // namespace

void NodeReport::EndLife() {
  for (const auto& [name, value] : newest_.all()) {
    if (std::ranges::find(kGauges, name) == kGauges.end()) base_.Add(name, value);
  }
  for (const wire::pb::TableReport& row : tables_) {
    if (row.more_tables() > 0) continue;
    table_bases_[row.table()] = {row.dpr(), row.waited_s()};  // with those before it
  }
}

void NodeReport::Take(const wire::pb::Report& report, std::uint64_t life) {
  if (life_ && *life_ != life) EndLife();
  life_ = life;
  iteration_ = Iteration(report.iteration());
  waiting_for_ = report.waiting_for();
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

}  // namespace leeway
