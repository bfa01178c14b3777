// The counters of a worker as a dict for Python.
#pragma once

#include <pybind11/pybind11.h>

#include "leeway/worker.h"

namespace leeway {

[[nodiscard]] pybind11::dict Figures(const WorkerCounters& c);

}  // namespace leeway
