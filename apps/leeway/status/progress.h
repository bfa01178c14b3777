// Progress: a series of statuses -> how fast a job is now, and one line of text about it. The launcher's bar
// and `leeway ctl status` take their figures from here, so that both mean the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "status/job_status.h"
#include "status/pace.h"

namespace leeway::app {

class Progress {
 public:
  explicit Progress(std::uint32_t workers) : workers_(workers) {}
  // A status as it was at `at_s` seconds after the launch. REQUIRES: at_s does not go back.
  void Add(const JobStatus& status, double at_s);

  // Over the last seconds; over all of training as long as there is one status only.
  [[nodiscard]] double SamplesPerSecond() const;
  // Of the gradients of the last seconds, on average; nothing before the first.
  [[nodiscard]] std::optional<double> staleness() const { return staleness_; }
  // The part of the batch pools that is done; nothing without a pool.
  [[nodiscard]] std::optional<double> share() const { return share_; }
  // Until the pools are used up, if training goes on as it did; nothing while that is a mere guess.
  [[nodiscard]] std::optional<double> Left_s() const;
  [[nodiscard]] const Pace& pace() const { return pace_; }

  // "[=====>    ]  43%  0:55 left  step 812  6.4k samples/s  slowest w3 4.1x  staleness 1.3  0:42", in at
  // most `columns`: the least important pieces are left out first, and the bar takes the rest. Without a
  // batch pool the end is unknown and there is no bar.
  [[nodiscard]] std::string Bar(double now_s, std::size_t columns) const;
  // The same for a log: "12 s  43%  step 812  ...".
  [[nodiscard]] std::string Line(double now_s) const;

 private:
  // A piece of the line; what has a lower rank is left out later.
  struct Piece {
    int rank = 0;
    std::string text;
  };
  [[nodiscard]] std::vector<Piece> Pieces() const;

  std::string phase_ = "starting";
  std::int64_t step_ = -1;
  std::optional<double> share_;
  double training_s_ = 0;
  double mean_rate_ = 0;                           // samples/s over all of training
  std::deque<std::pair<double, double>> samples_;  // (at_s, samples) of the last seconds
  Pace pace_;
  double gradients_ = 0, staleness_sum_ = 0;
  std::optional<double> staleness_;
  const std::uint32_t workers_;
  std::size_t joined_ = 0;
};

}  // namespace leeway::app
