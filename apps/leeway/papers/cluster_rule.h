// The rule that keeps the papers' figures honest: machines, links and servers are described once for a
// cluster, in clusters/*.toml, and no figure says another word about them, neither in its cells nor in its
// quick form.
#pragma once

#include "leeway/status.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

// An error names file, line and key of the first breach. Keys of clusters: compute.*, links.*, server.*.
[[nodiscard]] Status CheckNoClusterKeys(const ScenarioText& figure);
// The same of the file at `path`, and of what it includes up to the cluster.
[[nodiscard]] Status CheckFigureFile(const std::string& path);

}  // namespace leeway::app
