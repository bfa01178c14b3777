#include "process/compute_record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

namespace leeway {
namespace {

constexpr double kReportEveryS = 0.5;

double ClockSeconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The second number of a schedstat file: nanoseconds on a run queue. 0 if the kernel does not count them:
// then the time that other processes took counts as elsewhere.
double QueuedSeconds(int schedstat) {
  std::array<char, 96> text{};
  if (schedstat < 0) return 0;
  const ssize_t got = pread(schedstat, text.data(), text.size(), 0);
  const char* const end = text.data() + std::max<ssize_t>(got, 0);
  const char* const space = std::find(static_cast<const char*>(text.data()), end, ' ');
  std::uint64_t ns = 0;
  if (space != end) std::from_chars(space + 1, end, ns);
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace

ComputeRecord::~ComputeRecord() {
  if (schedstat_ >= 0) close(schedstat_);
}

ComputeRecord::Reading ComputeRecord::Read() const {
  return {.wall_s = ClockSeconds(CLOCK_MONOTONIC),
          .process_cpu_s = ClockSeconds(CLOCK_PROCESS_CPUTIME_ID),
          .thread_cpu_s = ClockSeconds(CLOCK_THREAD_CPUTIME_ID),
          .queued_s = QueuedSeconds(schedstat_)};
}

void ComputeRecord::BeginWait() {
  if (IsOwner()) wait_began_ = Read();
}

void ComputeRecord::EndWait() {
  if (!IsOwner()) return;
  const Reading now = Read();
  aside_.wall_s += now.wall_s - wait_began_.wall_s;
  aside_.process_cpu_s += now.process_cpu_s - wait_began_.process_cpu_s;
  aside_.thread_cpu_s += now.thread_cpu_s - wait_began_.thread_cpu_s;
  aside_.queued_s += now.queued_s - wait_began_.queued_s;
}

void ComputeRecord::NoteReady(TableId table) {
  if (!IsOwner() || table.value() >= kTablesMax) return;
  const double cpu_s = ClockSeconds(CLOCK_PROCESS_CPUTIME_ID) - began_.process_cpu_s - aside_.process_cpu_s;
  ready_.emplace_back(table.value(), cpu_s);
}

void ComputeRecord::Clock() {
  if (owner_ == std::thread::id()) {
    owner_ = std::this_thread::get_id();
    schedstat_ = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    first_ = began_ = Read();
    reported_s_ = last_end_s_ = first_.wall_s;
    return;
  }
  if (!IsOwner()) return;
  const Reading now = Read();
  const double wall_s = now.wall_s - began_.wall_s - aside_.wall_s;
  const double cpu_s = std::max(1e-6, now.process_cpu_s - began_.process_cpu_s - aside_.process_cpu_s);
  const double on_core_s = now.thread_cpu_s - began_.thread_cpu_s - aside_.thread_cpu_s;
  const double queued_s = now.queued_s - began_.queued_s - aside_.queued_s;
  ++iterations_;
  cpu_s_ += cpu_s;
  elsewhere_s_ += std::max(0.0, wall_s - on_core_s - queued_s);
  wait_cpu_s_ += aside_.process_cpu_s;
  ++buckets_[static_cast<int>(std::lround(std::log(cpu_s * 1e6) / std::log(kBucketBase)))];
  for (const auto& [table, at_s] : ready_) ready_shares_[table] += std::clamp(at_s / cpu_s, 0.0, 1.0);
  ready_.clear();
  last_end_s_ = now.wall_s;
  began_ = now;
  aside_ = {};
}

bool ComputeRecord::IsDue() {
  if (!IsOwner() || last_end_s_ - reported_s_ < kReportEveryS) return false;
  reported_s_ = last_end_s_;
  return true;
}

std::vector<std::pair<std::string, double>> ComputeRecord::Figures() const {
  std::vector<std::pair<std::string, double>> figures = {
      {"record.iterations", static_cast<double>(iterations_)},
      {"record.seconds", last_end_s_ - first_.wall_s},
      {"record.cpu_s", cpu_s_},
      {"record.elsewhere_s", elsewhere_s_},
      {"record.wait_cpu_s", wait_cpu_s_}};
  for (const auto& [bucket, count] : buckets_)
    figures.emplace_back(fmt::format("record.cpu.{}", bucket), static_cast<double>(count));
  for (const auto& [table, shares] : ready_shares_)
    figures.emplace_back(fmt::format("record.ready.{}", table), shares);
  return figures;
}

}  // namespace leeway
