#include "sim/workloads/ledger_plan.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/hash.h"
#include "sim/seeded_random.h"
#include "sim/workloads/drawn_rules.h"

namespace leeway::sim {
namespace {

// Draws of different purpose.
enum Draw : std::uint64_t { kConfig = 11, kUse, kBurst, kSpoil, kCell, kCompute, kSwitch, kGroup };

struct SyncChoice {
  const char* sync;
  const char* apply;
};
// Every pair that must keep the books right; each about equally often.
constexpr SyncChoice kChoices[] = {
    {"bsp", "aggregate"},
    {"bsp", "aggregate:reduce=ordered"},
    {"bsp", "immediate"},
    {"asp", "immediate"},
    {"ssp:1", "immediate"},
    {"ssp:3", "immediate"},
    {"ssp:2", "aggregate"},
    {"ssp:1", "aggregate:reduce=ordered"},
    {"ssp:2,release=soft", "immediate"},
};

constexpr const char* kSwitched[] = {"", "tables=always ", "tables=*e* ", "server=0 "};

std::vector<DrawnSwitch> DrawSwitches(const LedgerOptions& options,
                                      const std::vector<std::uint32_t>& iterations) {
  SeededRandom random(Hash64({options.seed, kSwitch}));
  std::vector<DrawnSwitch> switches;
  for (std::uint32_t i = 0; i < options.switches; ++i) {
    DrawnSwitch next;
    next.rank = static_cast<std::uint32_t>(random.Below(options.workers));
    next.step = static_cast<std::int64_t>(random.Below(iterations[next.rank]));
    const char* where = kSwitched[random.Below(std::size(kSwitched))];
    next.rule = DrawRule(where, random);
    switches.push_back(std::move(next));
  }
  return switches;
}

// The lag that a read under this spec may have; parsed by hand, so that the check does not use the code under
// test.
std::optional<std::int64_t> StaleMax(const std::string& sync) {
  if (sync.find("release=soft") != std::string::npos) return std::nullopt;
  if (sync == "bsp") return 0;
  std::int64_t s = 0;
  if (sync.starts_with("ssp:") &&
      std::from_chars(sync.data() + 4, sync.data() + sync.size(), s).ec == std::errc()) {
    return s;
  }
  return std::nullopt;
}

// Under these models a block may be several iterations beyond a worker's own.
bool SkipsAhead(const std::string& sync) { return sync.starts_with("drop") || sync.starts_with("psp"); }

// Under aggregate the default is to drop late pushes, and aggregate is the default of these three. By hand,
// as above.
bool DropsLate(const std::string& sync, const std::string& apply) {
  if (sync.find("late=apply") != std::string::npos) return false;
  if (sync.find("late=drop") != std::string::npos || apply.starts_with("aggregate")) return true;
  return apply.empty() && (SkipsAhead(sync) || sync.starts_with("bsp"));
}

// Quotes a word for a shell: formulas have quotes and spaces.
std::string ShellWord(const std::string& word) {
  return word.find_first_of(" \"|&<>()") == std::string::npos ? word : fmt::format("'{}'", word);
}

std::string ReplayLineOf(const LedgerOptions& given) {
  std::string line = fmt::format("build/tests/sim/leeway_workload ledger --seed {}", given.seed);
  if (!given.sync.empty()) line += fmt::format(" --sync {}", ShellWord(given.sync));
  if (!given.apply.empty()) line += fmt::format(" --apply {}", given.apply);
  if (given.workers > 0) line += fmt::format(" --workers {}", given.workers);
  if (given.servers > 0) line += fmt::format(" --servers {}", given.servers);
  if (given.shards > 0) line += fmt::format(" --shards {}", given.shards);
  if (given.iterations > 0) line += fmt::format(" --iterations {}", given.iterations);
  if (given.switches > 0) line += fmt::format(" --switches {}", given.switches);
  if (!given.faults) line += " --no-faults";
  return line;
}

}  // namespace

LedgerPlan MakeLedgerPlan(const LedgerOptions& given) {
  LedgerPlan plan;
  plan.replay = ReplayLineOf(given);
  plan.options = given;
  LedgerOptions& options = plan.options;
  SeededRandom random(Hash64({given.seed, kConfig}));
  // Always drawn, and used for options that were not given: so given options do not change the rest.
  const SyncChoice choice = kChoices[random.Below(std::size(kChoices))];
  const auto drawn = [&](std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(random.Between(low, high));
  };
  const std::uint32_t workers = drawn(2, 4), servers = drawn(1, 2), shards = drawn(1, 3),
                      iterations = drawn(5, 10);
  if (options.sync.empty()) {
    options.sync = choice.sync;
    if (options.apply.empty()) options.apply = choice.apply;
  }
  if (options.workers == 0) options.workers = workers;
  if (options.servers == 0) options.servers = servers;
  if (options.shards == 0) options.shards = shards;
  if (options.iterations == 0) options.iterations = iterations;

  plan.job.job = "ledger";
  plan.job.workers = options.workers;
  plan.job.servers = options.servers;
  plan.job.shards = options.shards;
  plan.job.sync = options.sync;
  plan.job.apply = options.apply;
  // Fixed bugs keep their seeds, and a seed means the same run only with the same placement.
  plan.job.placement = "round_robin";
  plan.job.seed = options.seed;
  plan.skips = SkipsAhead(options.sync) || options.switches > 0;
  plan.drops_late = plan.skips && DropsLate(options.sync, options.apply);
  // A worker reads the mean of an iteration in the next one, and not after some of another group.
  plan.grouped = options.seed % 4 == 3 && !options.apply.starts_with("relay");
  // A block holds one to two chunks, and seldom a whole number of them.
  const auto chunk_bytes = static_cast<std::uint32_t>(plan.period() * sizeof(float));
  plan.job.block_bytes = chunk_bytes + static_cast<std::uint32_t>(random.Below(plan.period())) * 4;

  const auto add = [&](TableUse use, std::string name, std::uint64_t chunks) {
    LedgerTable table;
    table.use = use;
    table.spec.name = std::move(name);
    // At least a block of them; the odd rest is a block smaller than a chunk.
    table.spec.shape = {static_cast<std::int64_t>(chunks * plan.period() + random.Below(plan.period()))};
    table.spec.optimizer = "sum";
    table.spec.group = plan.grouped ? static_cast<std::uint32_t>(plan.tables.size() % 2) : 0;
    // The default apply mode of the model: aggregate for bsp, immediate otherwise.
    const bool by_default = options.apply.empty() && options.sync.starts_with("bsp");
    // If blocks may be ahead of the reader, a read may hold other workers' pushes of later iterations.
    table.relay = options.apply.starts_with("relay") && use != TableUse::kBursts;
    if (table.relay) table.spec.optimizer = "mean";
    table.aggregate = !plan.skips && (by_default || table.relay || options.apply.starts_with("aggregate"));
    if (options.switches == 0) table.stale_max = StaleMax(options.sync);
    if (use == TableUse::kBursts) {
      table.spec.clock = TableClock::kOwn;
      table.spec.sync = "bsp";
      table.spec.apply = "aggregate:window=2";
      table.stale_max = 0;
      // Its reads come at any time: the worker may have pushed more since it asked.
      table.aggregate = false;
    }
    plan.tables.push_back(std::move(table));
  };
  add(TableUse::kAlways, "always", random.Between(2, 4));
  add(TableUse::kSometimes, "sometimes", random.Between(1, 3));
  add(TableUse::kEvenRanks, "even_ranks", random.Between(1, 2));
  add(TableUse::kNever, "never", 1);
  add(TableUse::kBursts, "bursts", random.Between(1, 2));

  for (std::uint32_t rank = 0; rank < options.workers; ++rank) {
    // One worker makes all iterations, the others at least half.
    const bool all = rank == options.seed % options.workers;
    const std::uint32_t least = (options.iterations + 1) / 2;
    plan.iterations.push_back(all ? options.iterations : drawn(least, options.iterations));
  }
  plan.switches = DrawSwitches(options, plan.iterations);
  for (const DrawnSwitch& change : plan.switches) {
    const std::size_t sync = change.rule.find("sync=") + 5, apply = change.rule.find(" apply=");
    const bool named = apply != std::string::npos;
    plan.drops_late = plan.drops_late || DropsLate(change.rule.substr(sync, named ? apply - sync : apply),
                                                   named ? change.rule.substr(apply + 7) : "");
  }
  return plan;
}

std::optional<std::uint32_t> LedgerPlan::GroupOf(std::int64_t iteration) const {
  if (!grouped) return std::nullopt;
  const std::uint64_t bits = Hash64({options.seed, kGroup, static_cast<std::uint64_t>(iteration)});
  // Runs of one group, as the critic of a WGAN has them, and now and then an iteration of all.
  if (bits % 8 == 0) return std::nullopt;
  return bits % 8 <= 5 ? 0 : 1;
}

std::int64_t LedgerPlan::SureBefore(std::size_t table, std::int64_t iteration) const {
  if (!tables[table].stale_max) return 0;
  std::int64_t lacking = *tables[table].stale_max;
  if (tables[table].use == TableUse::kBursts || !grouped) return iteration - lacking;
  for (; iteration > 0; --iteration) {
    const std::optional<std::uint32_t> group = GroupOf(iteration - 1);
    const bool own = !group || *group == tables[table].spec.group;
    if (own && lacking-- == 0) break;
  }
  return iteration;
}

bool LedgerPlan::Uses(std::size_t table, std::uint32_t rank, std::int64_t iteration) const {
  const std::optional<std::uint32_t> group = GroupOf(iteration);
  if (group && *group != tables[table].spec.group) {
    // Some backward passes go through the model of another optimizer, and push its gradients too.
    const std::uint64_t bits =
        Hash64({options.seed, kGroup, table, rank, static_cast<std::uint64_t>(iteration)});
    if (bits % 8 != 0) return false;
  }
  switch (tables[table].use) {
    case TableUse::kAlways:
      return true;
    case TableUse::kSometimes:
      return UnitInterval(Hash64({options.seed, kUse, table, rank, static_cast<std::uint64_t>(iteration)})) <
             0.6;
    case TableUse::kEvenRanks:
      return rank % 2 == 0;
    case TableUse::kNever:
    case TableUse::kBursts:
      return false;
  }
  return false;
}

std::uint32_t LedgerPlan::Burst(std::size_t table, std::int64_t iteration) const {
  if (skips) return 0;  // ranks make their steps at different iterations: see the header
  const std::uint64_t bits = Hash64({options.seed, kBurst, table, static_cast<std::uint64_t>(iteration)});
  // Mostly no push or one, now and then more than the window and the ledger hold.
  constexpr std::uint32_t kSizes[] = {0, 0, 1, 1, 1, 2, 3, 6};
  return kSizes[bits % std::size(kSizes)];
}

std::optional<std::size_t> LedgerPlan::Spoiled(std::size_t table, std::uint32_t rank,
                                               std::int64_t iteration) const {
  const std::uint64_t bits =
      Hash64({options.seed, kSpoil, table, rank, static_cast<std::uint64_t>(iteration)});
  if (bits % 16 != 0) return std::nullopt;
  return Mix64(bits) % tables[table].spec.elements();
}

std::size_t LedgerPlan::Cell(std::size_t table, std::uint32_t rank, std::int64_t iteration,
                             std::size_t chunk) const {
  const std::uint64_t slot =
      Hash64({options.seed, kCell, table, static_cast<std::uint64_t>(iteration), chunk}) % kSlots;
  return chunk * period() + rank * kSlots + slot;
}

std::vector<float> LedgerPlan::Gradient(std::size_t table, std::uint32_t rank, std::int64_t iteration) const {
  const std::size_t elements = tables[table].spec.elements();
  std::vector<float> gradient(elements, 0.0F);
  for (std::size_t chunk = 0; chunk * period() < elements; ++chunk) {
    const std::size_t cell = Cell(table, rank, iteration, chunk);
    if (cell < elements) gradient[cell] = 1.0F;
  }
  if (const auto spoiled = Spoiled(table, rank, iteration)) {
    gradient[*spoiled] = std::numeric_limits<float>::quiet_NaN();
  }
  return gradient;
}

Duration LedgerPlan::ComputeTime(std::uint32_t rank, std::int64_t iteration) const {
  const std::uint64_t bits = Hash64({options.seed, kCompute, rank, static_cast<std::uint64_t>(iteration)});
  // Some ranks are four times slower than others, and any iteration may be.
  const double rank_factor = 1.0 + 3.0 * UnitInterval(Hash64({options.seed, kCompute, rank}));
  return Duration(static_cast<Duration::rep>(5e6 * rank_factor * UnitInterval(bits)));
}

}  // namespace leeway::sim
