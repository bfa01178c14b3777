// The data messages: several blocks per frame, fixed layouts, decoded into structs that callers reuse.
//
// Encode appends to `body`; Decode checks every length, every enum and that the payload sizes of the entries
// add up to the frame's payload. Pure functions on bytes. docs/protocol.md has the layouts as tables.
//
// Some fields are for features that no node has yet. They have one value each in this version, given as
// their default here; Decode refuses any other by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "leeway/ids.h"
#include "leeway/optimizer.h"
#include "leeway/status.h"
#include "leeway/table.h"
#include "leeway/verdict.h"

namespace leeway::wire {

inline constexpr std::uint32_t kEntriesMax = 65'536;  // blocks in one frame
// No iteration on the wire is above this, so that a receiver may add to one without overflow.
inline constexpr Iteration kIterationWireMax{std::int64_t{1} << 62};

// How the bytes of a gradient or of values are encoded.
enum class Format : std::uint16_t {
  kFloat32 = 1,  // little-endian, one after the other
};

// Initial values of blocks; answered by a verdict kInitialized with seq 0.
struct InitEntry {
  BlockId block;
  Term term;
  std::uint32_t payload_bytes = 0;
};
struct Init {
  WorkerId worker;
  Incarnation incarnation;
  std::vector<InitEntry> entries;
};

struct PushEntry {
  BlockId block;
  Term term;
  Seq seq;
  Version base_version;             // that the gradient was computed on
  std::uint32_t payload_bytes = 0;  // of the block's `total`, from `offset` on: always all of them
  std::uint32_t offset = 0;
  std::uint32_t total = 0;
  Format format = Format::kFloat32;

  // The whole block in one piece.
  void SetWhole(std::uint32_t bytes) { payload_bytes = total = bytes; }
};
struct Push {
  WorkerId worker;
  Incarnation incarnation;
  Iteration iteration;
  std::uint32_t samples = 1;
  std::uint64_t steps = 0;  // optimizer steps this worker made itself: whose hyper-parameters win
  Hyper hyper;
  std::vector<PushEntry> entries;
};

struct AbsentEntry {
  // Another optimizer steps in this iteration: no lead of the block counts it.
  static constexpr std::uint8_t kIdle = 1;
  static constexpr std::uint8_t kFlags = kIdle;  // all that this version knows

  BlockId block;
  Term term;
  Seq seq;
  std::uint8_t flags = 0;
};
struct Absent {
  WorkerId worker;
  Incarnation incarnation;
  Iteration iteration;
  std::vector<AbsentEntry> entries;
};

// A worker goes on under a new term, and asks what the owner has of it. Pushes of earlier iterations that the
// owner lacks will not come.
struct ResumeEntry {
  BlockId block;
  Term term;
  Iteration next;  // of the next push that the owner gets
};
struct Resume {
  WorkerId worker;
  Incarnation incarnation;
  std::vector<ResumeEntry> entries;
};

// The answer: pushes up to `last` have been taken.
struct ResumedEntry {
  BlockId block;
  Term term;
  Seq last;
  Iteration v_train;
};
struct Resumed {
  WorkerId worker;
  Incarnation incarnation;
  std::vector<ResumedEntry> entries;
};

using leeway::ConsumesSeq;
using leeway::Verdict;

struct VerdictEntry {
  BlockId block;
  Term term;
  Seq seq;
  Verdict verdict = Verdict::kApplied;
  Iteration v_train;
  // Of kMoved: the shard that has the block now, and the block's term there. Nobody, as far as this version
  // knows: ask the scheduler.
  ShardId owner = kNoShard;
  Term owner_term{};
};
struct Verdicts {
  WorkerId worker;
  Incarnation incarnation;
  std::vector<VerdictEntry> entries;
};

struct PullEntry {
  BlockId block;
  Term term;
  Iteration progress;
  Version cached_version;  // the newest the worker holds; 0: none
  float significance = 1.0F;
  Ask ask;                    // comes back with the answer
  std::uint8_t priority = 0;  // of the table: 0 is needed first
  View held_view{};           // that the worker holds
  std::uint8_t flags = 0;     // 1: answer at once, 2: with full values
};
struct Pull {
  // Not a member (any more): answered as soon as there are values and the epoch is known.
  static constexpr std::uint8_t kObserver = 1;
  // The worker throws an answer away once it has asked for a newer one: the server need not send it.
  static constexpr std::uint8_t kNewestOnly = 2;
  // The server may let the answers leave by the priorities of their entries.
  static constexpr std::uint8_t kByPriority = 4;
  static constexpr std::uint8_t kFlags =
      kObserver | kNewestOnly | kByPriority;  // all that this version knows

  WorkerId worker;
  Incarnation incarnation;
  Epoch epoch_min;  // wait until the server knows this epoch
  std::uint8_t flags = 0;
  std::vector<PullEntry> entries;
};

struct AnswerEntry {
  enum class Content : std::uint8_t {
    kBytes = 1,
    kUnchanged = 2,   // the worker holds this version; version 0: there are no values, and will be none
    kNoGradient = 3,  // nobody gave one in iteration `mean` (relay)
  };

  BlockId block;
  Term term;
  Ask ask;  // of the pull that it answers
  Iteration v_train;
  Version version;
  std::uint32_t payload_bytes = 0;  // as of a push
  std::uint32_t offset = 0;
  std::uint32_t total = 0;
  Content content = Content::kUnchanged;
  Format format = Format::kFloat32;
  // The worker whose push, or end, released the pull; kNoWorker: the pull was not held up for a worker.
  WorkerId held_for = kNoWorker;
  std::uint32_t held_us = 0;  // how long the model made the pull wait; the highest number: so long or longer
  View view{};                // that the bytes encode
  View base{};                // that a delta starts from; 0: the values are whole
  Iteration mean{-1};         // whose mean gradient this is (relay); -1: of none

  // The whole block in one piece; 0: no bytes.
  void SetWhole(std::uint32_t bytes) {
    payload_bytes = total = bytes;
    if (bytes > 0) content = Content::kBytes;
  }
};
struct Answers {
  WorkerId worker;
  Incarnation incarnation;
  std::vector<AnswerEntry> entries;
};

// A block has arrays of equal size: 0 is its values, 1 and on are the state of its optimizer.
inline constexpr std::uint8_t kArrayMax = kOptimizerSlotsMax;

// Sets one array of a block. Takes a sequence number as a push does, and gets a verdict: kApplied;
// kLateDropped if the optimizer has run since `base_version`; kRefused.
struct AssignEntry {
  BlockId block;
  Term term;
  Seq seq;
  Version base_version;     // that the worker reads
  std::uint64_t steps = 0;  // runs of the optimizer behind its state; without a meaning for array 0
  std::uint32_t payload_bytes = 0;
  std::uint8_t array = 0;
};
struct Assign {
  WorkerId worker;
  Incarnation incarnation;
  std::vector<AssignEntry> entries;
};

// Answered at once, with the arrays that the block has then.
enum class ReadWhat : std::uint8_t { kValues = 1, kState = 2 };
struct ReadEntry {
  BlockId block;
  Term term;
  Version cached_version;  // values of this version need not be sent; 0: none
};
struct Read {
  WorkerId worker;
  Incarnation incarnation;
  std::uint64_t request = 0;  // comes back with the arrays
  ReadWhat what = ReadWhat::kValues;
  std::vector<ReadEntry> entries;
};

// One array of a block. All arrays that answer a Read are of one version.
struct ArraysEntry {
  BlockId block;
  Term term;
  Version version;  // 0: the block has no initial values
  std::uint64_t steps = 0;
  std::uint32_t payload_bytes = 0;
  std::uint8_t array = 0;
  std::uint8_t arrays = 0;  // of this block in the answer; 0: no state, or the worker holds this version
};
struct Arrays {
  WorkerId worker;
  Incarnation incarnation;
  std::uint64_t request = 0;
  std::vector<ArraysEntry> entries;
};

// Of the messages above alone: messages.cc has one of both for each.
template <typename Message>
void Encode(const Message& message, std::vector<std::byte>& body);
template <typename Message>
[[nodiscard]] Status Decode(std::span<const std::byte> body, std::uint64_t payload_bytes, Message& out);

}  // namespace leeway::wire
