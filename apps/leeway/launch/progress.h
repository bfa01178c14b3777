// Progress: a series of statuses -> one line of text. The only user-facing numbers while a job runs.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "launch/job_status.h"

namespace leeway::app {

class Progress {
 public:
  explicit Progress(std::uint32_t workers) : workers_(workers) {}
  // A status as it was at `at_s` seconds after the launch. REQUIRES: at_s does not go back.
  void Add(const JobStatus& status, double at_s);
  // "[=====>    ]  43%  step 812  6.4k samples/s  slowest w3 4.1x  staleness 1.3  0:42, 0:55 left"; without a
  // batch pool the end is unknown and there is no bar.
  [[nodiscard]] std::string Bar(double now_s) const;
  // The same for a log: "12 s: 43%, step 812, ...".
  [[nodiscard]] std::string Line(double now_s) const;

 private:
  [[nodiscard]] std::string Figures() const;
  [[nodiscard]] double SamplesPerSecond() const;

  static constexpr int kBarColumns = 24;

  std::string phase_ = "starting";
  std::int64_t step_ = -1;
  std::optional<double> share_;                    // of the batch pools that is done
  std::deque<std::pair<double, double>> samples_;  // (at_s, samples) of the last seconds
  std::optional<double> running_since_s_;
  std::string slowest_;
  double answers_ = 0, staleness_sum_ = 0;
  double staleness_ = 0;  // mean over the answers since the last status that had any
  const std::uint32_t workers_;
  std::size_t joined_ = 0;
};

}  // namespace leeway::app
