// Ledger: which pushes of each worker a block has taken, so that each counts once however often it is sent.
//
// Sequences are dense per (worker life, block), from 1. Only last + 1 is taken; a lower one gets its stored
// verdict again; a higher one is a gap and changes nothing. Verdicts of the last kKept are stored: a worker
// has no more without one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block/block_events.h"
#include "block/block_state.h"
#include "block/rank_table.h"
#include "leeway/ids.h"

namespace leeway {

class Ledger {
 public:
  static constexpr std::size_t kKept = kVerdictsKept;

  struct Decision {
    enum class Kind : std::uint8_t {
      kTake,
      kRepeat,     // `verdict` was given before
      kForgotten,  // older than anything the worker can still wait for: say nothing
      kGap,        // `last` is the last one taken
      kFenced,     // a newer life of this worker is known
    } kind;
    Verdict verdict = Verdict::kApplied;
    Seq last{};
  };

  [[nodiscard]] Decision Decide(MemberKey from, Seq seq) const;
  // The push that was decided kTake has this verdict now.
  void Record(MemberKey from, Seq seq, Verdict verdict);
  // Lives of this worker before `life` are fenced from now on.
  void Admit(MemberKey life) { (void)PageOf(life); }
  // The last one taken from this life; 0 if none.
  [[nodiscard]] Seq LastOf(MemberKey life) const;
  [[nodiscard]] std::vector<LedgerState> Save() const;  // by worker
  void Load(std::span<const LedgerState> pages);

 private:
  struct Page {
    Seq last{};
    Incarnation incarnation{};
    std::array<Verdict, kKept> verdicts{};  // of seq s at s % kKept
  };
  // Of this life, or a later one.
  Page& PageOf(MemberKey life);

  RankTable<Page> pages_;
};

}  // namespace leeway
