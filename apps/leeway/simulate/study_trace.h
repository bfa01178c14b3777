// StudyTrace: the work of one run's workers in the window of its timeline, as a trace that ui.perfetto.dev
// and chrome://tracing open.
#pragma once

#include <string>

#include "scenario/run_record.h"

namespace leeway::app {

[[nodiscard]] std::string TraceJson(const scenario::RunRecord& record, const std::string& name);

}  // namespace leeway::app
