// WorkerTable and WorkerBlock: what a worker knows of a table it takes part in, and of each of its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ring.h"
#include "block/idle_iterations.h"
#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/table.h"
#include "node/worker/block_model.h"
#include "node/worker/gradient_sum.h"
#include "node/worker/lent_gradient.h"
#include "node/worker/pair_landing.h"
#include "node/worker/parameter_pair.h"
#include "node/worker/pull_state.h"
#include "node/worker/push_queue.h"
#include "wire/control.pb.h"

namespace leeway {

struct WorkerTable;

// By who looks at it: every frame at the first line, sends and verdicts at the queue, pulls and answers at
// what follows. A process may hold thousands of workers, and none of their blocks is in its cache then.
struct alignas(64) WorkerBlock {
  WorkerTable* table = nullptr;
  WorkerBlock* next_touched = nullptr;  // of TouchedBlocks
  BlockModelRef model;                  // never null once placed
  BlockId id;
  ShardId shard;
  Term term{1};
  std::uint32_t index = 0;   // in its table
  Iteration told{-1};        // the highest v_train that its owner told, under this term
  Term seen{0};              // the newest under which this worker set or read values; 0: under none
  bool init_sent = false;    // on this connection
  bool moved = false;        // waits for its new place
  bool place_asked = false;  // ... which was asked for since it moved
  bool resuming = false;     // under a new term: its owner has not said yet what it has of ours
  bool resume_sent = false;  // on this connection
  bool touched = false;      // in TouchedBlocks of its port
  bool drops_late = false;   // late answers are thrown away

  PushQueue pushes;

  PullState pull;
  std::size_t offset = 0, elements = 0;
  std::shared_ptr<LentPush> init;  // initial values on loan, until acknowledged; shared as pushes are
  // The last progress whose values an iteration began without: answers up to it are late (partial pull).
  Iteration passed{std::numeric_limits<std::int64_t>::min()};

  std::int64_t skipped = 0;  // uses running without a newer version (partial pull)
  Duration waited{0};        // how long waits that ended with it were
  // The same of its server and its table, in the worker's counters. Both are found at its first wait; that of
  // the server is null again once the block may have moved.
  std::uint64_t *waited_by_server = nullptr, *waited_by_table = nullptr;

  // Arrays that this worker has set here, of the newest that have verdicts: which of the lost pushes are
  // none.
  static constexpr std::size_t kAssignsMax = 256;
  std::vector<Seq> assigns;

  // An array that this worker has set here has its verdict.
  void NoteAssigned(Seq seq);
  // The iteration of the next push that the owner gets.
  [[nodiscard]] Iteration NextIteration() const;
  [[nodiscard]] std::uint64_t bytes() const { return elements * sizeof(float); }
};
static_assert(sizeof(WorkerBlock) == 256, "three lines, and a fourth that few look at");

// A pull of a whole own-clock table into memory of the user's.
struct IntoPull {
  std::span<float> values;
  Iteration progress;
  std::size_t blocks_left = 0;
  Status outcome;
  Done done;
};

struct alignas(64) WorkerTable {
  WorkerTable(TableId table_id, const TableSpec& table_spec, ParameterPair& parameters, BufferPool& pool);

  // Takes the blocks that the scheduler made of it. An error if they are not this table's, or not whole.
  [[nodiscard]] Status Place(const wire::pb::Table& map, std::size_t shards);
  // The scheduler's answer to a later question: owners and terms may have changed.
  [[nodiscard]] Status Replace(const wire::pb::Table& map, std::size_t shards);
  [[nodiscard]] bool IsOwnClock() const { return own_clock; }
  // How many own iterations of its group are in [from, last], as far as this worker has kept them. REQUIRES:
  // from is a v_train that was told, or an iteration.
  [[nodiscard]] std::int64_t CountOwn(Iteration from, Iteration last) const {
    return idle->CountOwn(from, last);
  }
  // How many own iterations up to `progress` the values held of the block lack; nullopt: not known.
  [[nodiscard]] std::optional<std::int64_t> AgeOf(const WorkerBlock& block, Iteration progress) const {
    const Iteration v_train = landing.HeldVTrain(block.index);
    if (v_train < Iteration(-1)) return std::nullopt;
    return CountOwn(v_train, progress);
  }
  [[nodiscard]] bool HoldsWithin(const WorkerBlock& block, Iteration progress, std::int64_t age_max) const {
    const std::optional<std::int64_t> age = AgeOf(block, progress);
    return age && *age <= age_max;
  }

  struct Waiter {
    Iteration needed;
    TimePoint since;
    Done usable;
  };

  // First what every push and pull looks at: with thousands of small tables each line of memory counts.
  const TableId id;
  const bool own_clock;
  enum class State : std::uint8_t { kCreated, kDefining, kPlaced, kRefused } state = State::kCreated;
  const std::size_t elements;
  Iteration pushed{-1};     // the last iteration with a gradient: of the job's clock, or of its own
  Iteration exchanged{-1};  // the last iteration that was exchanged
  WorkerBlock* ended_by =
      nullptr;  // of the waits open: what came last, was left out, or held the iteration up
  WorkerId ended_for = kNoWorker;   // of the same: the worker that its answer was held up for
  Duration ended_held{0};           // of the same: how long the synchronization model held it
  std::vector<WorkerBlock> blocks;  // fixed once placed: ports and the block index point into it
  ParameterPair& pair;
  PairLanding landing;
  std::vector<Waiter> waiters;
  Ring<IntoPull> into;  // own-clock pulls; only the first is under way
  // Broadcasts that are read from the front buffer. It stays the front meanwhile: what lands goes into the
  // back.
  std::uint32_t front_lent = 0;
  float significance = 1.0F;       // of the last gradient
  std::uint8_t priority = 255;     // 0: needed first
  IdleIterations* idle = nullptr;  // of its group, as this worker clocks it; never null in a node

  const TableSpec spec;
  Status refusal;             // kRefused: why
  Iteration own_first{0};     // of its own clock: where this worker begins
  GradientSum sum;            // gradients that no exchange has taken yet
  std::size_t init_left = 0;  // blocks whose initial values are not acknowledged
};

}  // namespace leeway
