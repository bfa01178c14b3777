#include "sim/workloads/ledger_book.h"

#include <fmt/format.h>

#include <algorithm>

namespace leeway::sim {
namespace {

constexpr std::size_t kProblemsMax = 20;
constexpr float kRounding = 1e-3F;  // of a mean times the number of workers

}  // namespace

LedgerBook::LedgerBook(const LedgerPlan& plan) : plan_(plan), tables_(plan.tables.size()) {}

void LedgerBook::Problem(std::string what) {
  if (problems_.size() < kProblemsMax) problems_.push_back(std::move(what));
}

void LedgerBook::TakeBlocks(const std::function<const Block*(BlockId)>& find) {
  BlockId next(0);
  for (std::size_t table = 0; table < tables_.size(); ++table) {
    const std::size_t elements = plan_.tables[table].spec.elements();
    std::size_t at = 0;
    while (at < elements) {
      const Block* block = find(next);
      if (block == nullptr || block->elements() > elements - at) {
        return Problem(fmt::format("table \"{}\" is cut wrongly: block {} {}", plan_.tables[table].spec.name,
                                   next.value(), block == nullptr ? "is missing" : "is too large"));
      }
      tables_[table].slices.push_back({next, at, at + block->elements()});
      blocks_[next] = table;
      at += block->elements();
      next = BlockId(next.value() + 1);
    }
  }
}

const LedgerBook::Slice* LedgerBook::FindSlice(std::size_t table, BlockId block) const {
  for (const Slice& slice : tables_[table].slices) {
    if (slice.block == block) return &slice;
  }
  return nullptr;
}

void LedgerBook::AddOnes(std::vector<std::vector<std::uint32_t>>& by_iteration, const PushKey& push,
                         std::size_t begin, std::size_t end) {
  const auto iteration = static_cast<std::size_t>(push.iteration);
  while (by_iteration.size() <= iteration)
    by_iteration.emplace_back(plan_.tables[push.table].spec.elements(), 0);
  for (std::size_t chunk = begin / plan_.period(); chunk * plan_.period() < end; ++chunk) {
    const std::size_t cell = plan_.Cell(push.table, push.rank, push.iteration, chunk);
    if (cell >= begin && cell < end) ++by_iteration[iteration][cell];
  }
}

void LedgerBook::OnPush(std::size_t table, std::uint32_t rank, std::int64_t iteration) {
  const PushKey key{table, rank, iteration};
  if (!pushes_.try_emplace(key).second) Problem(fmt::format("the workload pushed table {} twice", table));
  AddOnes(tables_[table].pushed, key, 0, plan_.tables[table].spec.elements());
}

void LedgerBook::Count(wire::Verdict verdict) {
  verdicts_.applied += verdict == wire::Verdict::kApplied;
  verdicts_.summed += verdict == wire::Verdict::kSummed;
  verdicts_.absent += verdict == wire::Verdict::kAbsent;
  verdicts_.late_dropped += verdict == wire::Verdict::kLateDropped;
  verdicts_.refused += verdict == wire::Verdict::kRefused;
}

void LedgerBook::OnVerdict(std::uint32_t rank, TableId table_id, BlockId block, Seq seq, Iteration iteration,
                           wire::Verdict verdict, Iteration v_train) {
  const std::size_t table = table_id.index();
  const std::string push = fmt::format("worker {} block {} seq {} iteration {}", rank, block.value(),
                                       seq.value(), iteration.value());
  const Slice* slice = FindSlice(table, block);
  if (slice == nullptr)
    return Problem(fmt::format("{}: a verdict for a block that is not of table {}", push, table));
  std::uint64_t& last = last_seq_[{rank, block}];
  if (seq.value() != last + 1) Problem(fmt::format("{}: its verdict came after that of seq {}", push, last));
  last = seq.value();
  Count(verdict);

  const PushKey key{table, rank, iteration.value()};
  const auto found = pushes_.find(key);
  // A worker does not send a gradient that it knows to be late: the block hears that it is absent. The check
  // at the end compares the counts.
  const bool withheld = plan_.skips && found != pushes_.end() && verdict == wire::Verdict::kAbsent;
  if (!withheld && (found == pushes_.end()) != (verdict == wire::Verdict::kAbsent)) {
    return Problem(fmt::format("{}: got verdict {}, though the worker {} it", push, static_cast<int>(verdict),
                               found == pushes_.end() ? "did not push" : "pushed"));
  }
  if (found == pushes_.end()) return;
  withheld_ += withheld;
  const bool dropped = verdict == wire::Verdict::kLateDropped;
  if (dropped && (!plan_.drops_late || iteration >= v_train)) {
    Problem(fmt::format("{}: dropped as late by a block in iteration {}, under models of which {}", push,
                        v_train.value(),
                        plan_.drops_late ? "some drop what is late" : "none drops anything"));
  }
  if (++found->second.verdicts > tables_[table].slices.size())
    Problem(fmt::format("{}: one verdict too many", push));
  const auto spoiled = plan_.Spoiled(table, rank, iteration.value());
  const bool bad = spoiled.has_value() && *spoiled >= slice->begin && *spoiled < slice->end;
  const bool unread = withheld || dropped;
  if (!unread && bad != (verdict == wire::Verdict::kRefused)) {
    Problem(fmt::format("{}: got verdict {} for a gradient {} NaN", push, static_cast<int>(verdict),
                        bad ? "with a" : "without"));
  }
  found->second.refused = found->second.refused || verdict == wire::Verdict::kRefused;
  if (verdict == wire::Verdict::kApplied || verdict == wire::Verdict::kSummed) {
    AddOnes(tables_[table].taken, key, slice->begin, slice->end);
  }
}

void LedgerBook::OnPushDone(std::size_t table, std::uint32_t rank, std::int64_t iteration,
                            const Status& status) {
  PushState& push = pushes_[{table, rank, iteration}];
  const std::string what = fmt::format("worker {} table {} iteration {}", rank, table, iteration);
  if (push.done) Problem(what + ": told twice that its push is done");
  push.done = true;
  if (push.verdicts != tables_[table].slices.size()) {
    Problem(
        fmt::format("{}: done with {} verdicts of {}", what, push.verdicts, tables_[table].slices.size()));
  }
  if (status.ok() == push.refused) Problem(fmt::format("{}: done with {}", what, status.ToString()));
}

void LedgerBook::CheckRead(std::size_t table, std::uint32_t rank, std::int64_t iteration,
                           std::span<const float> values) {
  const TableBook& book = tables_[table];
  const LedgerTable& kind = plan_.tables[table];
  // Under aggregate the read cannot hold any push of this iteration.
  const std::int64_t sure = plan_.SureBefore(table, iteration);
  const std::int64_t possible = kind.aggregate ? iteration : std::numeric_limits<std::int64_t>::max();
  if (kind.relay) return CheckMean(table, rank, iteration, values);
  for (std::size_t element = 0; element < values.size(); ++element) {
    std::uint32_t least = 0, most = 0;
    for (std::size_t i = 0; i < book.taken.size() && static_cast<std::int64_t>(i) < sure; ++i) {
      least += book.taken[i][element];
    }
    for (std::size_t i = 0; i < book.pushed.size() && static_cast<std::int64_t>(i) < possible; ++i) {
      most += book.pushed[i][element];
    }
    if (values[element] >= static_cast<float>(least) && values[element] <= static_cast<float>(most)) continue;
    return Problem(fmt::format("worker {} iteration {} table \"{}\" element {}: read {}, wanted {} to {}",
                               rank, iteration, kind.spec.name, element, values[element], least, most));
  }
}

void LedgerBook::CheckMean(std::size_t table, std::uint32_t rank, std::int64_t iteration,
                           std::span<const float> values) {
  const TableBook& book = tables_[table];
  const auto of = static_cast<std::size_t>(iteration - 1);
  const auto at = [of](const std::vector<std::vector<std::uint32_t>>& by_iteration, std::size_t element) {
    return of < by_iteration.size() ? by_iteration[of][element] : 0U;
  };
  // Workers that have ended count in N, as all others do.
  const auto members = static_cast<float>(plan_.options.workers);
  for (std::size_t element = 0; element < plan_.tables[table].spec.elements(); ++element) {
    const float sum = values.empty() ? 0.0F : values[element] * members;
    const std::uint32_t least = iteration == 0 ? 0 : at(book.taken, element);
    const std::uint32_t most = iteration == 0 ? 0 : at(book.pushed, element);
    if (sum >= static_cast<float>(least) - kRounding && sum <= static_cast<float>(most) + kRounding) continue;
    return Problem(
        fmt::format("worker {} iteration {} table \"{}\" element {}: read a mean of {}, wanted {} to {}",
                    rank, iteration, plan_.tables[table].spec.name, element, sum / members,
                    static_cast<float>(least) / members, static_cast<float>(most) / members));
  }
}

void LedgerBook::CheckFinal(std::size_t table, std::uint32_t rank, std::span<const float> values,
                            const std::function<const Block*(BlockId)>& find) {
  const std::string& name = plan_.tables[table].spec.name;
  if (plan_.tables[table].relay) return;  // the mean of the last iteration, which no worker steps with
  for (const Slice& slice : tables_[table].slices) {
    const Block* block = find(slice.block);
    if (block == nullptr || block->values().size() != slice.end - slice.begin) {
      return Problem(fmt::format("table \"{}\" block {}: no values at the end", name, slice.block.value()));
    }
    for (std::size_t element = slice.begin; element < slice.end; ++element) {
      std::uint32_t wanted = 0;
      for (const auto& iteration : tables_[table].taken) wanted += iteration[element];
      const float held = block->values()[element - slice.begin];
      if (values[element] == static_cast<float>(wanted) && held == values[element]) continue;
      return Problem(fmt::format(
          "table \"{}\" block {} element {}: worker {} pulled {}, the server holds {}, and {} verdicts "
          "say it was added to",
          name, slice.block.value(), element, rank, values[element], held, wanted));
    }
  }
}

void LedgerBook::CheckCounts(const BlockCounters& servers, std::uint64_t skipped_late) {
  for (const auto& [key, push] : pushes_) {
    if (push.done) continue;
    Problem(fmt::format("worker {} table {} iteration {}: {} verdicts of {}, never done", key.rank, key.table,
                        key.iteration, push.verdicts, tables_[key.table].slices.size()));
  }
  const auto same = [this](const char* what, std::uint64_t given, std::uint64_t received) {
    if (given == received) return;
    Problem(fmt::format("servers gave {} verdicts {}, workers received {}", given, what, received));
  };
  same("APPLIED", servers.applied, verdicts_.applied);
  same("SUMMED", servers.summed, verdicts_.summed);
  same("ABSENT", servers.absent, verdicts_.absent);
  same("LATE_DROPPED", servers.late_dropped, verdicts_.late_dropped);
  same("REFUSED", servers.refused, verdicts_.refused);
  if (withheld_ != skipped_late) {
    Problem(
        fmt::format("{} blocks of pushes were absent, and workers kept back {}", withheld_, skipped_late));
  }
}

}  // namespace leeway::sim
