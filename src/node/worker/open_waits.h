// OpenWaits: the workers that this worker waits for, as the scheduler asks.
#pragma once

#include "node/worker/inquiries.h"
#include "node/worker/worker_view.h"

namespace leeway {

// Adds every wait of the user that is open to the survey under way; asks the shards of its blocks.
void AddOpenWaits(const WorkerView& view, Inquiries& inquiries);

// Nothing that this worker has sent to its shards is on its way, and nothing is to be sent.
[[nodiscard]] bool IsSettled(const WorkerView& view);

}  // namespace leeway
