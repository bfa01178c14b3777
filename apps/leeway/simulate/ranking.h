// Ranking: a sentence that names the first of several settings to reach a goal, by the spread over seeds.
#pragma once

#include <string>
#include <vector>

namespace leeway::app {

struct Contender {
  std::string name;
  std::vector<double> seconds;  // by seed; not a number where it never got there
};

// Whether the difference of two is larger than its spread: the mean of the differences, seed by seed (each
// seed gives both the same machines), is larger than their standard deviation. False with less than two
// seeds.
[[nodiscard]] bool IsBeyondSpread(const Contender& one, const Contender& other);
// "asp is the first to accuracy 0.83, after 13.2 s; ssp:3 takes 12 % longer (14.8 s), bsp 3.1 times as long
// (40.9 s)." Only those that got there with every seed are compared. Empty if no one got there.
[[nodiscard]] std::string RankingText(const std::string& goal, std::vector<Contender> contenders);

}  // namespace leeway::app
