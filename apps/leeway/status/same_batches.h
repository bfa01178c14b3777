// SameBatches: a status -> a hint for a job whose workers train on the same batches, which then do no more
// than one worker alone. Workers report a digest of their first gradients, which all of them compute from the
// same values (python/leeway/torch/first_gradients.py): equal digests come from equal batches.
#pragma once

#include <string>

#include "status/job_status.h"

namespace leeway::app {

// One line without its end; empty: no two workers have the same digest.
[[nodiscard]] std::string SameBatchesText(const JobStatus& status);

}  // namespace leeway::app
