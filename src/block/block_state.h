// BlockState: a block at one moment, as plain data. A checkpoint keeps it, and a new owner of the block gets
// it.
//
// Values and gradients are pinned, not copied: versions are immutable, and a sum that is pinned is copied
// before it is added to. Waiting pulls and pushes beyond the window are not part of it: their workers ask
// again.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "block/block_events.h"
#include "block/buffer_pool.h"
#include "leeway/ids.h"
#include "leeway/optimizer.h"
#include "leeway/sync_model.h"

namespace leeway {

// How many verdicts of its last pushes a block remembers for each worker. A worker has no more pushes without
// a verdict.
inline constexpr std::size_t kVerdictsKept = 4;

struct LedgerState {
  MemberKey member{};
  Seq last{};
  std::array<Verdict, kVerdictsKept> verdicts{};  // of seq s at s % kVerdictsKept
  friend bool operator==(const LedgerState&, const LedgerState&) = default;
};

struct LifeState {
  MemberKey key{};
  Iteration first{};
  Iteration progress{};
  bool live = false;
  bool silent = true;
  friend bool operator==(const LifeState&, const LifeState&) = default;
};

struct ProgressState {
  Iteration v_train{0};
  Iteration highest_sent{-1};
  bool untouched = true;                             // nobody has sent anything since it began
  std::uint32_t taken = 0;                           // since the last advance, late ones not counted
  std::vector<LifeState> lives;                      // by worker
  std::vector<Iteration> ended_firsts, ended_lasts;  // of gone members that still count somewhere
  friend bool operator==(const ProgressState&, const ProgressState&) = default;
};

// A gradient in an open sum, or, where gradients are added as they come, their sum so far.
struct ContributionState {
  MemberKey from{};
  Seq seq{};
  float weight = 1.0F;
  ConstBufferRef gradient{};
};

struct OpenSumState {
  Iteration iteration{};
  std::uint64_t samples = 0;
  std::uint32_t contributors = 0;
  std::uint64_t steps = 0;  // own steps of the contributor whose hyper is taken, and which one that is
  MemberKey chosen{};
  Seq chosen_seq{};
  Hyper hyper{};
  bool hyper_mismatch = false;
  std::vector<ContributionState> contributions;
};

struct BlockState {
  Version version{0};       // 0: no values yet
  std::uint64_t steps = 0;  // runs of the optimizer that were published
  ConstBufferRef values{};
  std::vector<ConstBufferRef> slots;  // of the optimizer
  ProgressState progress;
  std::vector<LedgerState> ledger;  // by worker
  std::vector<OpenSumState> sums;   // by iteration
  Memory memory;

  // Turns the state into the first one of a job that begins in iteration `start` with new lives. Nobody is a
  // member and nothing is open; the ledger keeps former lives out. For an exact cut: every rank computes
  // `start` again.
  void Rebase(Iteration start);
  // The same for a fuzzy cut: no rank computes again what the block holds, so the block
  // keeps its iteration and its open sums. Former lives have ended; what they gave counts in N.
  void EndLives();
};

}  // namespace leeway
