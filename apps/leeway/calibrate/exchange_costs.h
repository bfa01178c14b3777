// MeasureExchange: what a message and a byte cost between a worker and a server on this machine, found out
// with a short job of one of each.
#pragma once

#include <string>

#include "calibrate/job_record.h"
#include "leeway/status.h"

namespace leeway::app {

// Takes about a second. `transport` is that of LinkOptions. Its per_byte_s is that of adding numbers up: what
// the servers of a job do instead, only that job can tell. Forks: call it before the process has threads.
[[nodiscard]] Result<ExchangeCosts> MeasureExchange(const std::string& transport);

}  // namespace leeway::app
