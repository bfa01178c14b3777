// LEEWAY_MUTATE_LEDGER_OFF and LEEWAY_MUTATE_TAKE_GAP break the ledger on purpose; tests/contract builds both
// and expects the ledger tests to fail.
#include "block/ledger.h"

#include <algorithm>

namespace leeway {

Ledger::Decision Ledger::Decide(MemberKey from, Seq seq) const {
  const auto found = pages_.find(from.worker);
  if (found != pages_.end() && from.incarnation < found->second.incarnation)
    return {.kind = Decision::Kind::kFenced};
#ifdef LEEWAY_MUTATE_LEDGER_OFF
  return {.kind = Decision::Kind::kTake};
#endif
  // A life that has sent nothing starts at seq 1.
  const bool known = found != pages_.end() && from.incarnation == found->second.incarnation;
  const Seq last = known ? found->second.last : Seq(0);
  if (seq == last + 1) return {.kind = Decision::Kind::kTake};
  if (seq > last) {
#ifdef LEEWAY_MUTATE_TAKE_GAP
    return {.kind = Decision::Kind::kTake};
#else
    return {.kind = Decision::Kind::kGap, .last = last};
#endif
  }
  if (seq == Seq(0) || last - seq >= kKept) return {.kind = Decision::Kind::kForgotten};
  return {.kind = Decision::Kind::kRepeat, .verdict = found->second.verdicts[seq.index() % kKept]};
}

void Ledger::Record(MemberKey from, Seq seq, BlockVerdict verdict) {
  Admit(from);
  Page& page = pages_[from.worker];
  page.last = seq;
  page.verdicts[seq.index() % kKept] = verdict;
}

void Ledger::Admit(MemberKey life) {
  Page& page = pages_[life.worker];
  if (page.incarnation < life.incarnation) page = {.incarnation = life.incarnation, .last = Seq(0)};
}

std::vector<LedgerState> Ledger::Save() const {
  std::vector<LedgerState> pages;
  for (const auto& [worker, page] : pages_) {
    pages.push_back({{worker, page.incarnation}, page.last, page.verdicts});
  }
  std::ranges::sort(pages, {}, &LedgerState::member);
  return pages;
}

void Ledger::Load(std::span<const LedgerState> pages) {
  for (const LedgerState& page : pages) {
    pages_[page.member.worker] = {page.member.incarnation, page.last, page.verdicts};
  }
}

}  // namespace leeway
