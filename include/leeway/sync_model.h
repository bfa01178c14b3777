// SyncModel: when a pull is answered and when a block goes on to its next iteration. One file per model in
// src/sync/.
//
// Models are stateless; what one must remember of a block is in Memory, which moves and is checkpointed with
// the block. Asked on the thread of the block's shard. The conditions follow FluentPS, Table III;
// docs/glossary.md has the words.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

// What a block knows of its members. Each question is O(1) or O(log N).
class ProgressView {
 public:
  virtual ~ProgressView() = default;
  // Members whose contribution to (or absence from) iteration i is here. REQUIRES: i >= v_train.
  [[nodiscard]] virtual std::uint32_t CountAt(Iteration i) const = 0;
  // Members that count for iteration i: first <= i < last. REQUIRES: i >= v_train.
  [[nodiscard]] virtual std::uint32_t MembersAt(Iteration i) const = 0;
  // The highest iteration this member has sent; first - 1 before its first; nothing for a stranger.
  [[nodiscard]] virtual std::optional<Iteration> ProgressOf(WorkerId worker) const = 0;
  // Highest and lowest progress of live members; -1 with none.
  [[nodiscard]] virtual Iteration Fastest() const = 0;
  [[nodiscard]] virtual Iteration Slowest() const = 0;
  // Time between the last two pushes of a live member; nothing before its second.
  [[nodiscard]] virtual std::optional<Duration> PushInterval(WorkerId worker) const = 0;
};

struct SyncView {
  TimePoint now;
  Iteration v_train;
  const ProgressView& progress;
  double significance = 1.0;  // of the pulling worker; 1 when unknown
  double coin = 1.0;  // in (0, 1], a hash of (seed, scope, worker, progress); the same when asked again

  [[nodiscard]] std::uint32_t CountAt(Iteration i) const { return progress.CountAt(i); }
  [[nodiscard]] std::uint32_t MembersAt(Iteration i) const { return progress.MembersAt(i); }
};

using Memory = std::string;  // a few bytes at most

enum class PullVerdict : std::uint8_t { kNow, kLater };

// Whether a block may advance: yes, no (ask again after the next event), or not before a time.
struct Advance {
  enum class Kind : std::uint8_t { kYes, kNo, kAt } kind = Kind::kNo;
  TimePoint at{};
  static Advance Yes() { return {Kind::kYes, {}}; }
  static Advance No() { return {Kind::kNo, {}}; }
  static Advance At(TimePoint when) { return {Kind::kAt, when}; }
};

class SyncModel {
 public:
  virtual ~SyncModel() = default;
  virtual PullVerdict OnPull(const SyncView& view, Memory& memory, WorkerId worker,
                             Iteration progress) const = 0;
  virtual Advance MayAdvance(const SyncView& view, Memory& memory) const = 0;
  // The most iterations a worker may be ahead of v_train when it pushes, if bounded: aggregate needs a window
  // above it.
  [[nodiscard]] virtual std::optional<std::int64_t> Lead() const = 0;
  // The apply mode when the user names none.
  [[nodiscard]] virtual const char* DefaultApply() const = 0;
};

using SyncModelPtr = std::unique_ptr<SyncModel>;

}  // namespace leeway
