#include "optimizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <span>
#include <string_view>

#include "base/errors.h"
#include "base/hash.h"
#include "cpu.h"
#include "figures.h"
#include "floors.h"
#include "json_line.h"
#include "leeway/optimizer.h"
#include "optimizer/kernel_target.h"
#include "optimizer/optimizers.h"
#include "plain_optimizers.h"
#include "range.h"

namespace leeway::bench {
namespace {

constexpr double kAgree = 1e-5;  // of the norms: the plain loop fuses multiplications and additions
constexpr std::uint64_t kStep = 5;
constexpr std::size_t kSlotsMax = 3;
constexpr Hyper kHyper{.lr = 0.01F, .weight_decay = 1e-4F, .momentum = 0.9F, .beta2 = 0.999F, .eps = 1e-8F};
constexpr float kScale = 0.25F, kTrust = 0.001F;

PlainHyper PlainHyperOf() {
  const double lr = kHyper.lr, step = kStep;
  return {.g_scale = kScale,
          .lr = kHyper.lr,
          .decay = kHyper.weight_decay,
          .momentum = kHyper.momentum,
          .beta2 = kHyper.beta2,
          .eps = kHyper.eps,
          .trust = kTrust,
          .step_size = static_cast<float>(lr / (1.0 - std::pow(static_cast<double>(kHyper.momentum), step))),
          .root_bc2 = static_cast<float>(std::sqrt(1.0 - std::pow(static_cast<double>(kHyper.beta2), step))),
          .shrink = static_cast<float>(1.0 - lr * static_cast<double>(kHyper.weight_decay))};
}

#if defined(__x86_64__)
// Its argument must be written out for the compiler.
bool Has(std::string_view need) {
#define LW_HAS(feature) \
  if (need == feature) return __builtin_cpu_supports(feature) != 0
  LW_HAS("sse4.2");
  LW_HAS("avx");
  LW_HAS("fma");
  LW_HAS("bmi2");
  LW_HAS("avx2");
  LW_HAS("avx512f");
  LW_HAS("avx512dq");
  LW_HAS("avx512bw");
  LW_HAS("avx512vl");
#undef LW_HAS
  return false;
}
#else
bool Has(std::string_view) { return true; }
#endif

// The arrays that all optimizers share.
struct OptimizerArrays {
  explicit OptimizerArrays(std::size_t n) : w(n), g(n), w_out(n), plain_out(n) {
    slots.assign(kSlotsMax, std::vector<float>(n));
    slots_out = slots;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t hash = Hash64({i});
      const auto unit = [hash](unsigned shift) {
        return static_cast<float>(hash >> shift & 0xFFFFU) / 65536.0F;
      };
      w[i] = unit(0) - 0.5F;
      g[i] = unit(16) - 0.5F;
      // Above the square of any mean, so that a variance is one.
      slots[0][i] = 0.1F + unit(32);
      slots[1][i] = slots[2][i] = 0.01F * unit(48);
    }
  }
  std::vector<float> w, g, w_out, plain_out;
  std::vector<std::vector<float>> slots, slots_out;
};

// Of this thread's processor time: a pass waits for nothing but memory, and what other processes take of the
// core is not its own.
double Nanoseconds(const std::function<void()>& pass) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  pass();
  return now() - start;
}

Status CheckAgree(const std::string& spec, std::span<const float> own, std::span<const float> plain) {
  double differs = 0, all = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double d = static_cast<double>(own[i]) - static_cast<double>(plain[i]);
    differs += d * d;
    all += static_cast<double>(plain[i]) * static_cast<double>(plain[i]);
  }
  const double relative = std::sqrt(differs / all);
  if (relative <= kAgree) return Status::Ok();
  return Internal("{}: the kernel and the plain loop differ by {:.3g} of the norm, wanted at most {}", spec,
                  relative, kAgree);
}

Result<OptimizerRow> Measure(const PlainOptimizer& plain, OptimizerArrays& arrays, std::uint32_t repeats) {
  OptimizerRow row;
  row.spec = plain.spec;
  LW_ASSIGN_OR_RETURN(const OptimizerPtr optimizer, BuiltinOptimizers().MakeFromSpec(plain.spec));
  const auto slots = static_cast<std::size_t>(optimizer->slots());
  const std::size_t n = arrays.w.size();
  std::vector<std::span<const float>> in;
  std::vector<std::span<float>> out;
  PlainArrays loop{
      .n = n, .w = arrays.w.data(), .g = arrays.g.data(), .slots = {}, .w_out = {}, .slots_out = {}};
  for (std::size_t i = 0; i < slots; ++i) {
    in.emplace_back(arrays.slots[i]);
    out.emplace_back(arrays.slots_out[i]);
    loop.slots[i] = arrays.slots[i].data();
    loop.slots_out[i] = arrays.slots_out[i].data();
  }
  bool finite = true;
  const auto own_pass = [&] {
    finite = optimizer->Step(
        {.w = arrays.w, .g = arrays.g, .g_scale = kScale, .step = kStep, .hyper = kHyper, .slots = in},
        {.w = arrays.w_out, .slots = out});
  };
  const PlainHyper hyper = PlainHyperOf();
  const auto plain_pass = [&](std::vector<float>& w_out) {
    loop.w_out = w_out.data();
    plain.step(hyper, loop);
  };

  own_pass();  // warm, and beside each other to compare
  plain_pass(arrays.plain_out);
  if (!finite) return Internal("{}: the step was not finite", row.spec);
  LW_RETURN_IF_ERROR(CheckAgree(row.spec, arrays.w_out, arrays.plain_out));
  std::vector<double> own_ns, plain_ns, ratios;
  const auto per_value = [n](double ns) { return ns / static_cast<double>(n); };
  for (std::uint32_t i = 0; i < repeats; ++i) {
    // The order alternates, so that a machine that slows down or speeds up favours neither.
    if (i % 2 == 0) plain_ns.push_back(per_value(Nanoseconds([&] { plain_pass(arrays.w_out); })));
    own_ns.push_back(per_value(Nanoseconds(own_pass)));
    if (i % 2 == 1) plain_ns.push_back(per_value(Nanoseconds([&] { plain_pass(arrays.w_out); })));
    ratios.push_back(plain_ns.back() / own_ns.back());
  }
  row.ns = Median(own_ns);
  row.plain_ns = Median(plain_ns);
  row.ratio = Median(ratios);
  row.spread = Spread(ratios);
  // w and g in, w out, every slot in and out; mean does not read w, lars reads w and g twice.
  const std::size_t passed = 3 + 2 * slots - (row.spec == "mean" ? 1 : 0) + (row.spec == "lars" ? 2 : 0);
  row.gb_s = static_cast<double>(passed * sizeof(float)) / row.ns;
  return row;
}

Status CheckRows() {
  for (const std::string& name : BuiltinOptimizers().names()) {
    const std::span all(kPlainOptimizers, kPlainOptimizersCount);
    if (std::ranges::none_of(all, [&](const PlainOptimizer& plain) { return plain.spec == name; })) {
      return Internal(
          "optimizer \"{}\" has a row in builtin.def and no plain loop in bench/plain_optimizers.cc", name);
    }
  }
  return Status::Ok();
}

}  // namespace

Status CheckProcessor(std::span<const char* const> needs) {
  std::vector<std::string_view> lacking;
  for (const char* need : needs) {
    if (!Has(need)) lacking.emplace_back(need);
  }
  if (lacking.empty()) return Status::Ok();
  return FailedPrecondition(
      "the plain loops were built for a processor with {}, which this one lacks: build Leeway on this "
      "machine to compare",
      fmt::join(lacking, ", "));
}

Result<OptimizerReport> RunOptimizers(const OptimizerOptions& options) {
  if (options.bytes < sizeof(float) || options.bytes % sizeof(float) != 0 || options.bytes > 1ULL << 30) {
    return InvalidArgument("bytes: got {}, wanted a multiple of {} up to {}", options.bytes, sizeof(float),
                           1ULL << 30);
  }
  LW_RETURN_IF_ERROR(CheckRange("repeats", options.repeats, 1, 100));
  LW_RETURN_IF_ERROR(CheckRows());
  LW_RETURN_IF_ERROR(CheckProcessor({kPlainNeeds, kPlainNeedsCount}));
  OptimizerReport report;
  report.options = options;
  const BusyMeter meter;
  report.target = kernels::Target();
  const int cores = Cores();
  PinToCore(0);
  report.core = cores > 1 ? sched_getcpu() : -1;
  OptimizerArrays arrays(options.bytes / sizeof(float));
  for (const PlainOptimizer& plain : std::span(kPlainOptimizers, kPlainOptimizersCount)) {
    LW_ASSIGN_OR_RETURN(OptimizerRow row, Measure(plain, arrays, options.repeats));
    report.rows.push_back(std::move(row));
  }
  report.ratio_min = std::ranges::min(report.rows, {}, &OptimizerRow::ratio).ratio;
  report.busy = meter.End();
  return report;
}

std::string TooLittle(const OptimizerReport& report) {
  std::string text;
  for (const OptimizerRow& row : report.rows) {
    const Floor* const floor = FindFloor(fmt::format("optimizer.{}.ratio", row.spec));
    if (floor == nullptr || floor->Holds(row.ratio)) continue;
    text += fmt::format("{}: {:.2f} of the speed of a plain loop, wanted at least {}\n", row.spec, row.ratio,
                        floor->value);
  }
  return text;
}

std::string ToJson(const OptimizerReport& report) {
  std::vector<std::string> rows;
  for (const OptimizerRow& row : report.rows) {
    rows.push_back(JsonLine()
                       .Text("spec", row.spec)
                       .Real("ns_per_value", row.ns)
                       .Real("plain_ns_per_value", row.plain_ns)
                       .Real("ratio", row.ratio)
                       .Real("spread", row.spread, 3)
                       .Real("gb_s", row.gb_s)
                       .Done());
  }
  return JsonLine()
      .Text("bench", "optimizer")
      .Whole("bytes", report.options.bytes)
      .Whole("repeats", report.options.repeats)
      .Each("optimizers", rows)
      .Real("ratio_min", report.ratio_min)
      .Text("target", report.target)
      .Whole("core", report.core)
      .All(JsonOf(report.busy))
      .Done();
}

std::string ToText(const OptimizerReport& report) {
  std::string text = fmt::format(
      "one step over arrays of {:.4g} MiB, on {}{}, beside a plain loop built for this "
      "processor\n\n{:<31}{:>9}{:>9}"
      "{:>8}{:>8}{:>8}\n",
      static_cast<double>(report.options.bytes) / (1U << 20U), report.target,
      report.core < 0 ? "" : fmt::format(", core {}", report.core), "", "ns/value", "plain", "ratio",
      "spread", "GB/s");
  for (const OptimizerRow& row : report.rows) {
    text += fmt::format("{:<31}{:>9.3f}{:>9.3f}{:>8.2f}{:>8.2f}{:>8.1f}\n", row.spec, row.ns, row.plain_ns,
                        row.ratio, row.spread, row.gb_s);
  }
  return text + fmt::format("\nworst ratio {:.2f}\n", report.ratio_min) + TextOf(report.busy);
}

}  // namespace leeway::bench
