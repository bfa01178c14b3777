#include "sim/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "base/hash.h"
#include "sim/cluster.h"
#include "sim/run_to_end.h"

namespace leeway::sim {
namespace {

constexpr std::int64_t kTableElements = 16;
constexpr std::size_t kPictureColumnsMin = 16;

class TimelineWorker final : public WorkloadPart {
 public:
  TimelineWorker(Cluster& cluster, const TimelineOptions& options, std::uint32_t rank, TimelineReport& report)
      : cluster_(cluster),
        options_(options),
        rank_(rank),
        node_(cluster.worker(rank)),
        env_(cluster.worker_env(rank)),
        report_(report),
        random_(Hash64({options.seed, 31, rank})),
        gradient_(std::make_shared<std::vector<float>>(kTableElements, 1.0F)) {}

  void Begin() override {
    node_.Join(Then([this] { MakeTable(); }));
  }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string Where() const override {
    return fmt::format("worker {} waits for: {}", rank_, node_.WaitingFor());
  }

 private:
  [[nodiscard]] Done Then(std::function<void()> next) {
    return [this, next = std::move(next)](const Status& status) {
      if (status.ok()) return next();
      report_.problems.push_back(fmt::format("worker {}: {}", rank_, status.ToString()));
    };
  }
  [[nodiscard]] Duration Now() const { return cluster_.queue().now(); }

  void MakeTable() {
    TableSpec spec;
    spec.name = "w";
    spec.shape = {kTableElements};
    pair_ = std::make_unique<ParameterPair>(spec.elements(), nullptr, nullptr);
    if (const auto made = node_.CreateTable(spec, *pair_); !made.ok())
      return report_.problems.push_back(made.status().ToString());
    node_.Start(Then([this] {
      const std::span<const float> zeros = pair_->Front();
      node_.Broadcast(TableId(0), zeros, nullptr, Then([this] {
                        // All workers begin together, because the picture shows the model, not the start of
                        // the job.
                        node_.Barrier("begin", Then([this] { Ask(); }));
                      }));
    }));
  }

  void Ask() {
    const Duration asked = Now();
    if (!origin_) origin_ = asked;
    if (asked - *origin_ >= options_.length) return Leave();
    node_.Sync(TableId(0), Then([this, asked] {
                 (void)pair_->Take();
                 Compute(asked);
               }));
  }

  void Compute(Duration asked) {
    const Duration began = Now();
    const Duration step = options_.steps[rank_];
    const Duration takes = step - step / 10 + random_.Between(Duration::zero(), step / 5);
    (void)env_.timers.After(takes, [this, asked, began] {
      report_.spans.push_back(
          {rank_, node_.iteration().value(), asked - *origin_, began - *origin_, Now() - *origin_});
      LentGradient gradient;
      gradient.values = *gradient_;
      gradient.pin = gradient_;
      gradient.hyper.lr = 0.1F;
      const Status pushed = node_.Push(TableId(0), std::move(gradient), Then([] {}));
      const Status ended = pushed.ok() ? node_.Clock() : pushed;
      if (!ended.ok()) return report_.problems.push_back(ended.ToString());
      Ask();
    });
  }

  void Leave() {
    node_.Leave(Then([this] {
      node_.Finish(Then([this] {
        report_.late_dropped += node_.counters().late_dropped + node_.counters().skipped_late;
        node_.Shutdown(Then([this] { done_ = true; }));
      }));
    }));
  }

  Cluster& cluster_;
  const TimelineOptions& options_;
  const std::uint32_t rank_;
  WorkerNode& node_;
  Env& env_;
  TimelineReport& report_;
  SeededRandom random_;
  const std::shared_ptr<std::vector<float>> gradient_;
  std::unique_ptr<ParameterPair> pair_;
  std::optional<Duration> origin_;
  bool done_ = false;
};

// The line of a worker, a character per part of the length: # and = compute, . waits.
std::string Picture(const TimelineReport& report, std::uint32_t worker, std::size_t columns,
                    Duration length) {
  std::string picture(columns, ' ');
  const auto column = [&](Duration at) {
    const double share = static_cast<double>(at.count()) / static_cast<double>(length.count());
    return std::min(columns, static_cast<std::size_t>(std::lround(share * static_cast<double>(columns))));
  };
  std::uint64_t steps = 0;
  for (const TimelineSpan& span : report.spans) {
    if (span.worker != worker) continue;
    ++steps;
    const auto fill = [&](Duration from, Duration to, char mark) {
      for (std::size_t i = column(from); i < column(to); ++i) picture[i] = mark;
    };
    fill(span.asked, span.began, '.');
    fill(span.began, span.ended, steps % 2 == 0 ? '#' : '=');
  }
  return picture;
}

// "16 steps, waits 73 %".
std::string ShareText(const TimelineReport& report, std::uint32_t worker) {
  Duration computed{}, waited{};
  std::uint64_t steps = 0;
  for (const TimelineSpan& span : report.spans) {
    if (span.worker != worker) continue;
    computed += span.ended - span.began;
    waited += span.began - span.asked;
    ++steps;
  }
  const double share = waited.count() == 0 ? 0.0
                                           : static_cast<double>(waited.count()) /
                                                 static_cast<double>((waited + computed).count());
  return fmt::format("{:>2} steps, waits {:2.0f} %", steps, share * 100);
}

}  // namespace

TimelineReport RunTimeline(const TimelineOptions& options) {
  ClusterOptions cluster_options;
  cluster_options.seed = options.seed;
  cluster_options.faults = false;
  cluster_options.policies = options.policies;
  cluster_options.job.job = "timeline";
  cluster_options.job.workers = static_cast<std::uint32_t>(options.steps.size());
  cluster_options.job.sync = options.sync;
  cluster_options.job.apply = options.apply;
  cluster_options.job.seed = options.seed;

  TimelineReport report;
  std::vector<std::unique_ptr<WorkloadPart>> parts;
  Cluster cluster(cluster_options);
  RunToEnd(
      cluster, parts,
      [&](std::uint32_t rank) { return std::make_unique<TimelineWorker>(cluster, options, rank, report); },
      report.problems, kCalmLimit + 100 * options.length);
  report.delayed = cluster.ServerCounters().delayed;
  return report;
}

std::string TimelineText(const TimelineOptions& options, const TimelineReport& report, std::size_t columns) {
  struct Line {
    std::string name, share;
  };
  std::vector<Line> lines;
  std::size_t around = 0;  // columns beside the picture
  for (std::uint32_t worker = 0; worker < options.steps.size(); ++worker) {
    lines.push_back({fmt::format("w{:<2}  ", worker), "  " + ShareText(report, worker)});
    around = std::max(around, lines.back().name.size() + lines.back().share.size());
  }
  const std::size_t width = std::max(columns, around + kPictureColumnsMin) - around;
  std::string text;
  for (std::uint32_t worker = 0; worker < options.steps.size(); ++worker) {
    const std::string picture = Picture(report, worker, width, options.length);
    text += lines[worker].name + picture + lines[worker].share + "\n";
  }
  return text;
}

}  // namespace leeway::sim
