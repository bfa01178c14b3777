#include "node/server/shard_figures.h"

namespace leeway {

Figures ShardFigures(const BlockStore& blocks, const ShardTraffic& traffic) {
  const BlockCounters sum = blocks.Sum();
  std::uint64_t waiting = 0;
  std::uint64_t values_bytes = 0;
  for (const auto& block : blocks.all()) {
    waiting += block->waiting();
    values_bytes += block->elements() * sizeof(float);
  }
  Figures figures;
  const auto set = [&figures](const char* name, std::uint64_t value) {
    figures.Set(name, static_cast<double>(value));
  };
  set("applied", sum.applied);
  set("summed", sum.summed);
  set("absent", sum.absent);
  set("late_dropped", sum.late_dropped);
  set("refused", sum.refused);
  set("repeated", sum.repeated);
  set("gaps", sum.gaps);
  set("fenced", sum.fenced);
  set("moved", sum.moved + traffic.moved);
  set("windows", sum.windows);
  set("pulls", sum.pulls);
  set("answers", sum.answers);
  set("unchanged", sum.unchanged);
  set("dpr", traffic.delayed_pulls);
  set("advances", sum.advances);
  set("steps", sum.steps);
  set("hyper_mismatches", sum.hyper_mismatches);
  set("overflowed", sum.overflowed);
  set("resumed", sum.resumed);
  set("waiting", waiting);
  set("bytes_in", traffic.bytes_in);
  set("bytes_out", traffic.bytes_out);
  set("blocks", blocks.all().size());
  set("values_bytes", values_bytes);
  return figures;
}

wire::pb::Report ShardReport(const BlockStore& blocks, const ShardTraffic& traffic) {
  wire::pb::Report report;
  const Figures figures = ShardFigures(blocks, traffic);
  for (const auto& [name, value] : figures.all()) (*report.mutable_values())[name] = value;
  for (const auto& block : blocks.all()) {
    if (block->waiting() == 0) continue;
    report.set_waiting_for(block->WhyWaiting());
    break;
  }
  return report;
}

}  // namespace leeway
