#include "papers/cluster_rule.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/errors.h"
#include "base/split.h"
#include "system/text_file.h"

namespace leeway::app {
namespace {

constexpr std::string_view kClusters = "clusters";

bool IsOfCluster(std::string_view key) {
  constexpr std::array<std::string_view, 3> kSections = {"compute.", "links.", "server."};
  return std::ranges::any_of(kSections, [key](std::string_view section) { return key.starts_with(section); });
}

// Of "cluster.workers+compute.base_s=8+0.1;16+0.2", any of the keys.
bool SweepsCluster(const std::string& sweep) {
  return std::ranges::any_of(SplitAt(sweep.substr(0, sweep.find('=')), '+'), IsOfCluster);
}

}  // namespace

Status CheckNoClusterKeys(const ScenarioText& figure) {
  constexpr std::string_view kQuick = "study.quick.";
  for (const ScenarioLine& line : figure.lines) {
    const std::string key = line.key.starts_with(kQuick) ? line.key.substr(kQuick.size()) : line.key;
    bool breach = IsOfCluster(key);
    if (line.key == "study.sweeps") breach = std::ranges::any_of(line.value.texts, SweepsCluster);
    if (!breach) continue;
    return InvalidArgument(
        "{} line {}: {} says something of the cluster: {}; wanted compute.*, links.* and server.* in "
        "clusters/*.toml alone, for all figures of a cluster",
        figure.name, line.line, line.key, line.value.got);
  }
  return Status::Ok();
}

Status CheckFigureFile(const std::string& path) {
  std::filesystem::path at = path;
  for (int depth = 0; depth <= kIncludesMax; ++depth) {
    if (at.lexically_normal().parent_path().filename() == kClusters) return Status::Ok();
    LW_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(at.string()));
    LW_ASSIGN_OR_RETURN(const ScenarioText file, ParseScenario(text, at.string()));
    LW_RETURN_IF_ERROR(CheckNoClusterKeys(file));
    if (file.includes.empty()) break;
    at = at.parent_path() / file.includes;
  }
  return InvalidArgument("{}: includes no file of clusters/, wanted the cluster that it runs on", path);
}

}  // namespace leeway::app
