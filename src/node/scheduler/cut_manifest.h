// BuildManifest: the manifest of a checkpoint whose parts are all written: what shards and workers answered,
// put together with the job as it is. A pure function.
#pragma once

#include <map>
#include <vector>

#include "block/block_events.h"
#include "checkpoint/manifest.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "node/scheduler/batch_pools.h"
#include "node/scheduler/ended_lives.h"
#include "node/scheduler/held_pushes.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/rank_states.h"
#include "node/scheduler/reports.h"
#include "node/scheduler/table_registry.h"
#include "wire/control.pb.h"

namespace leeway {

// The job as a checkpoint sees it. Borrowed for one call.
struct CutJob {
  const JobOptions& options;
  Epoch epoch;
  Iteration fastest;  // the highest iteration that any worker reported
  const Membership& members;
  const TableRegistry& tables;
  const BatchPools& pools;
  const EndedLives& ended;
  const HeldPushes::Lacking& lacking;  // as the scheduler has counted
  const Reports& reports;
};

// The answers of the members to one cut.
struct CutParts {
  const wire::pb::Cut& cut;
  const std::map<ShardId, wire::pb::CutReply>& replies;
  const RankStates& ranks;
  // By life: its pushes below it had their verdicts when the cut was begun.
  const std::map<MemberKey, Iteration>& settled;
};

// An error when a table lacks blocks in the replies: it was made while the shards were writing.
[[nodiscard]] Result<Manifest> BuildManifest(const CutJob& job, const CutParts& parts);

}  // namespace leeway
