#include <cstdint>

#include "bench/memory.h"
#include "command/bench_report.h"
#include "command/commands.h"

namespace leeway::app {
namespace {

enum class MemoryPart : std::uint8_t { kFirst, kFlat, kBoth };

struct MemoryFlags {
  MemoryPart part = MemoryPart::kBoth;
  bench::FirstIterationOptions first;
  bench::FlatnessOptions flat;
};

void DeclareMemory(FlagSet& flags, MemoryFlags& options) {
  bench::FirstIterationOptions& first = options.first;
  DeclareTransportFlag(flags, first.transport);
  const FlagSet::Choices<MemoryPart> parts = {
      {"first", MemoryPart::kFirst}, {"flat", MemoryPart::kFlat}, {"both", MemoryPart::kBoth}};
  flags.OneOf("--part", "NAME", options.part, parts, "first, flat, or both");
  flags.Bytes("--model-bytes", first.model_bytes, 64, 8ULL << 30, "size of the model");
  flags.Number("-w,--workers", "N", first.workers, 1, 64, "workers that get the model");
  flags.Number("-s,--servers", "N", first.servers, 1, 64, "servers that hold the model");
  flags.Number("--repeats", "N", first.repeats, 1, 50, "turns with the model, and as many of copying");
  flags.Number("--iterations", "N", options.flat.iterations, 100, 100'000'000,
               "iterations of the small model");
}

Result<bench::MemoryReport> RunMemoryParts(const MemoryFlags& flags) {
  bench::MemoryOptions options;
  if (flags.part != MemoryPart::kFlat) options.first = flags.first;
  if (flags.part != MemoryPart::kFirst) {
    options.flat = flags.flat;
    options.flat->transport = flags.first.transport;
  }
  return bench::RunMemory(options);
}

}  // namespace

std::unique_ptr<Command> NewBenchMemoryCommand() {
  return NewBench<MemoryFlags, bench::MemoryReport>({
      .name = "bench memory",
      .summary = "measure how fast a large model reaches its workers, and whether a job grows",
      .lesson =
          "Examples:\n"
          "  leeway bench memory\n"
          "  leeway bench memory --part first --model-bytes 256MiB --json\n"
          "  leeway bench memory --part flat --iterations 1000000\n\n"
          "first: all blocks of a model are initialized by rank 0 and pulled by all workers, beside copying "
          "it once per worker. flat: memory and descriptors of all processes over the iterations of a small "
          "model; exits with 1 when they grow. docs/performance.md says what the fields mean.\n",
      .declare = DeclareMemory,
      .run = RunMemoryParts,
      .misses = [](const MemoryFlags&, const bench::MemoryReport& report) { return bench::TooMuch(report); },
  });
}

}  // namespace leeway::app
