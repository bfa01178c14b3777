#include "block/ledger.h"

#include "base/mutation.h"

namespace leeway {

Ledger::Decision Ledger::Decide(MemberKey from, Seq seq) const {
  const Page* const page = pages_.Find(from.worker);
  if (page != nullptr && from.incarnation < page->incarnation) return {.kind = Decision::Kind::kFenced};
  if (LW_MUTATED(ledger_off)) return {.kind = Decision::Kind::kTake};
  // A life that has sent nothing starts at seq 1.
  const bool known = page != nullptr && from.incarnation == page->incarnation;
  const Seq last = known ? page->last : Seq(0);
  if (seq == last + 1) return {.kind = Decision::Kind::kTake};
  if (seq > last) {
    if (LW_MUTATED(take_gap)) return {.kind = Decision::Kind::kTake};
    return {.kind = Decision::Kind::kGap, .last = last};
  }
  if (!known || seq == Seq(0) || last - seq >= kKept) return {.kind = Decision::Kind::kForgotten};
  return {.kind = Decision::Kind::kRepeat, .verdict = page->verdicts[seq.index() % kKept]};
}

void Ledger::Record(MemberKey from, Seq seq, Verdict verdict) {
  Page& page = PageOf(from);
  page.last = seq;
  page.verdicts[seq.index() % kKept] = verdict;
}

Ledger::Page& Ledger::PageOf(MemberKey life) {
  Page& page = pages_[life.worker];
  if (page.incarnation < life.incarnation) page = {.last = Seq(0), .incarnation = life.incarnation};
  return page;
}

Seq Ledger::LastOf(MemberKey life) const {
  const Page* const page = pages_.Find(life.worker);
  return page != nullptr && page->incarnation == life.incarnation ? page->last : Seq(0);
}

std::vector<LedgerState> Ledger::Save() const {
  std::vector<LedgerState> pages;
  pages_.ForEach([&pages](WorkerId worker, const Page& page) {
    pages.push_back({{worker, page.incarnation}, page.last, page.verdicts});
  });
  return pages;
}

void Ledger::Load(std::span<const LedgerState> pages) {
  for (const LedgerState& page : pages) {
    pages_[page.member.worker] = {page.last, page.member.incarnation, page.verdicts};
  }
}

}  // namespace leeway
