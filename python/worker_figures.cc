#include "worker_figures.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace leeway {

py::dict Figures(const WorkerCounters& c) {
  py::dict d;
  d["pushes"] = c.pushes;
  d["applied"] = c.applied;
  d["summed"] = c.summed;
  d["absent"] = c.absent;
  d["late_dropped"] = c.late_dropped;
  d["refused"] = c.refused;
  d["pulls"] = c.pulls;
  d["answers"] = c.answers;
  d["unchanged"] = c.unchanged;
  d["resent"] = c.resent;
  d["reconnects"] = c.reconnects;
  d["connected_over"] = c.connected_over;
  d["bytes_sent"] = c.bytes_sent;
  d["bytes_received"] = c.bytes_received;
  d["wait_s"] = static_cast<double>(c.wait_ns) * 1e-9;
  d["lead_sum"] = c.lead_sum;
  d["lead"] = c.lead;
  d["skipped_blocks"] = c.skipped_blocks;
  d["skipped_late"] = c.skipped_late;
  d["iterations_skipped"] = c.iterations_skipped;
  d["exchanges_skipped"] = c.exchanges_skipped;
  py::dict waits;
  for (const auto& [cause, ns] : c.wait_by_ns) waits[py::str(cause)] = static_cast<double>(ns) * 1e-9;
  d["wait_by_s"] = waits;
  return d;
}

}  // namespace leeway
