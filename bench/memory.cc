#include "memory.h"

#include "base/errors.h"
#include "floors.h"

namespace leeway::bench {
namespace {

JsonLine JsonOf(const FirstIterationReport& report) {
  return JsonLine()
      .Text("transport", report.options.transport)
      .Whole("model_bytes", report.options.model_bytes)
      .Whole("workers", report.options.workers)
      .Whole("servers", report.options.servers)
      .Whole("repeats", report.options.repeats)
      .Real("seconds", report.leeway_s.median)
      .Real("spread", report.leeway_s.spread, 3)
      .Real("copy_seconds", report.copy_s.median)
      .Real("copy_spread", report.copy_s.spread, 3)
      .All(JsonOf("ratio", report.ratio))
      .Real("touched_copy_seconds", report.touched_copy_s.median)
      .Real("touched_ratio", report.touched_ratio.median);
}

JsonLine JsonOf(const FlatnessReport& report) {
  std::vector<std::string> rows;
  for (const FlatnessRow& row : report.rows) {
    rows.push_back(JsonLine()
                       .Text("process", row.process)
                       .Real("anon_kib_after_warm_up", row.after_warm_up.anon_kib, 8)
                       .Real("anon_kib", row.at_end.anon_kib, 8)
                       .Real("shmem_kib_after_warm_up", row.after_warm_up.shmem_kib, 8)
                       .Real("shmem_kib", row.at_end.shmem_kib, 8)
                       .Real("descriptors_after_warm_up", row.after_warm_up.descriptors)
                       .Real("descriptors", row.at_end.descriptors)
                       .Done());
  }
  return JsonLine()
      .Text("transport", report.options.transport)
      .Whole("iterations", report.options.iterations)
      .Real("iterations_s", report.iterations_s, 5)
      .Each("processes", rows)
      .Real("growth_kib", report.growth_kib_max, 8)
      .Real("descriptors_growth", report.descriptors_growth_max);
}

}  // namespace

Result<MemoryReport> RunMemory(const MemoryOptions& options) {
  if (options.first) LW_RETURN_IF_ERROR(Check(*options.first));
  if (options.flat) LW_RETURN_IF_ERROR(Check(*options.flat));
  MemoryReport report;
  const BusyMeter meter;
  if (options.first) {
    LW_ASSIGN_OR_RETURN(report.first, RunFirstIteration(*options.first));
  }
  if (options.flat) {
    LW_ASSIGN_OR_RETURN(report.flat, RunFlatness(*options.flat));
  }
  report.busy = meter.End();
  return report;
}

std::string TooMuch(const MemoryReport& report) {
  std::string text;
  if (!report.flat) return text;
  const auto look = [&](const FlatnessRow& row, const char* figure, const char* what, double growth) {
    const Floor* const floor = FindFloor(figure);
    if (floor == nullptr || floor->Holds(growth)) return;
    text += fmt::format("{}: {} grew by {:.0f} over {} iterations, wanted at most {:.0f}\n", row.process,
                        what, growth, report.flat->options.iterations, floor->value);
  };
  for (const FlatnessRow& row : report.flat->rows) {
    look(row, "memory.growth_kib", "RssAnon in KiB", row.anon_growth_kib());
    look(row, "memory.growth_kib", "RssShmem in KiB", row.shmem_growth_kib());
    look(row, "memory.descriptors_growth", "open descriptors", row.descriptors_growth());
  }
  return text;
}

std::string ToJson(const MemoryReport& report) {
  return JsonLine()
      .Text("bench", "memory")
      .Raw("first_iteration", report.first ? JsonOf(*report.first).Done() : "null")
      .Raw("flat", report.flat ? JsonOf(*report.flat).Done() : "null")
      .All(JsonOf(report.busy))
      .Done();
}

std::string ToText(const MemoryReport& report) {
  std::string text;
  if (report.first) {
    const FirstIterationReport& first = *report.first;
    text += fmt::format(
        "a model of {:.3g} GB over {}: {:.3f} s until {} workers have it, {:.3f} s to copy it once for each; "
        "ratio {:.2f} ({:.2f} to {:.2f}); {:.2f} of copies into memory that was touched before\n",
        static_cast<double>(first.options.model_bytes) * 1e-9, first.options.transport, first.leeway_s.median,
        first.options.workers, first.copy_s.median, first.ratio.median, first.ratio.low, first.ratio.high,
        first.touched_ratio.median);
  }
  if (report.flat) {
    const FlatnessReport& flat = *report.flat;
    text += fmt::format(
        "{} iterations of a small model over {}, {:.0f} a second; after the first tenth, and at the end:\n"
        "{:<12}{:>22}{:>22}{:>16}\n",
        flat.options.iterations, flat.options.transport, flat.iterations_s, "", "RssAnon KiB", "RssShmem KiB",
        "descriptors");
    for (const FlatnessRow& row : flat.rows) {
      text += fmt::format("{:<12}{:>11.0f}{:>11.0f}{:>11.0f}{:>11.0f}{:>8.0f}{:>8.0f}\n", row.process,
                          row.after_warm_up.anon_kib, row.at_end.anon_kib, row.after_warm_up.shmem_kib,
                          row.at_end.shmem_kib, row.after_warm_up.descriptors, row.at_end.descriptors);
    }
  }
  return text + TextOf(report.busy);
}

}  // namespace leeway::bench
