#include "bench/cluster/train_check.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/errors.h"
#include "bench/cpu.h"
#include "bench/json_line.h"

namespace leeway::bench {
namespace {

constexpr std::chrono::milliseconds kCheckTime{1000};

std::string CpuQuotas() {
  if (access("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", F_OK) == 0 && access("/sys/fs/cgroup/cpu", W_OK) == 0)
    return "cgroup v1";
  std::ifstream controllers("/sys/fs/cgroup/cgroup.controllers");
  for (std::string word; controllers >> word;) {
    if (word == "cpu" && access("/sys/fs/cgroup", W_OK) == 0) return "cgroup v2";
  }
  return "";
}

std::string ToolPath(const std::string& name) {
  const Result<std::string> path = FindNetworkTool(name);
  return path.ok() ? *path : "";
}

Result<ProbeReport> ProbeRate(std::uint32_t cards, std::optional<LinkRate> rate) {
  LW_ASSIGN_OR_RETURN(const auto network, EmulatedNetwork::Make(cards, rate));
  return ProbeNetwork(*network, cards, kCheckTime);
}

std::string ProbeText(const ProbeReport& probe) {
  return fmt::format("{:.3f} Gbit/s each way on each card, {:.0f} % idle processor", probe.gbit_s,
                     probe.idle * 100);
}

}  // namespace

TrainCheck CheckTrain(const TrainOptions& options) {
  TrainCheck check;
  check.options = options;
  check.ip = ToolPath("ip");
  check.tc = ToolPath("tc");
  check.cpu_quotas = CpuQuotas();
  // A card that sends to itself measures nothing.
  check.cards = std::max(2U, CardsOf(options));
  const Result<ProbeReport> unlimited = ProbeRate(check.cards, std::nullopt);
  if (!unlimited.ok()) {
    check.network = unlimited.status();
    return check;
  }
  check.unlimited = *unlimited;
  if (!options.net) return check;
  const Result<ProbeReport> wanted = ProbeRate(check.cards, EmulatedRate(options));
  if (!wanted.ok()) {
    check.network = wanted.status();
    return check;
  }
  check.wanted = *wanted;
  check.rate = CheckCarried(*wanted, *options.net, options.scale);
  return check;
}

std::string ToText(const TrainCheck& check) {
  std::string text;
  const auto add = [&text](const std::string& name, const std::string& what) {
    text += fmt::format("{:<12}{}\n", name, what);
  };
  add("ip", check.ip.empty() ? "missing; Debian's package iproute2 has it" : check.ip);
  add("tc", check.tc.empty() ? "missing; Debian's package iproute2 has it" : check.tc);
  add("namespaces", check.network.ok() ? "yes, with cards and token buckets" : check.network.message());
  add("left over", "nothing: the namespaces have no names, and end with their last process");
  add("cpu quotas", check.cpu_quotas.empty() ? "none: a server's processor cannot be slowed by a cgroup"
                                             : check.cpu_quotas + ", not used here");
  add("processor", fmt::format("{} cores, which all machines share", Cores()));
  if (check.unlimited) add("no limit", fmt::format("{} cards: {}", check.cards, ProbeText(*check.unlimited)));
  if (check.wanted) {
    add(PrintLinkRate(*EmulatedRate(check.options)),
        fmt::format("{} cards: {}", check.cards, ProbeText(*check.wanted)));
  }
  if (!check.network.ok()) return text + "no: only --net none runs here\n";
  if (!check.rate.ok()) return text + "no: " + check.rate.message() + "\n";
  return text + "yes: it can be emulated here\n";
}

std::string ToJson(const TrainCheck& check) {
  JsonLine line;
  line.Text("check", "train")
      .Text("ip", check.ip)
      .Text("tc", check.tc)
      .Raw("network", check.network.ok() ? "true" : "false")
      .Text("network_error", check.network.message())
      .Text("cpu_quotas", check.cpu_quotas)
      .Whole("cores", Cores())
      .Whole("cards", check.cards);
  if (check.unlimited)
    line.Real("unlimited_gbit_s", check.unlimited->gbit_s).Real("unlimited_idle", check.unlimited->idle);
  if (check.wanted) {
    line.Real("wanted_gbit_s", EmulatedRate(check.options)->gbit_s())
        .Real("carried_gbit_s", check.wanted->gbit_s)
        .Real("carried_idle", check.wanted->idle);
  }
  return line.Text("rate_error", check.rate.message()).Raw("ok", check.ok() ? "true" : "false").Done();
}

}  // namespace leeway::bench
