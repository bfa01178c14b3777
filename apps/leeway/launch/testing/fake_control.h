// FakeControl: a LaunchControl that writes down what a part of a launch asks for.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launch/launch_control.h"

namespace leeway::app {

inline constexpr ProcessEnd kSigkilled{137, 9};

class FakeControl final : public LaunchControl {
 public:
  void Say(const std::string& line) override { said.push_back(line); }
  void Note(EventKind kind, const std::string& who, const std::string& what) override {
    notes.push_back(fmt::format("{} {}: {}", NameOf(kind), who, what));
  }
  void Start(JobRole role, std::uint32_t index) override {
    acts.push_back("start " + NameOf(role, index));
    running.insert({role, index});
  }
  void Kill(JobRole role, std::uint32_t index) override { acts.push_back("kill " + NameOf(role, index)); }
  void SignalAll(JobRole role, int signal) override {
    acts.push_back(fmt::format("signal {} to {}", signal, NameOf(role, 0)));
  }
  [[nodiscard]] bool IsRunning(JobRole role, std::uint32_t index) const override {
    return running.contains({role, index});
  }
  [[nodiscard]] std::size_t Running(JobRole role) const override {
    std::size_t n = 0;
    for (const auto& process : running) n += process.first == role ? 1 : 0;
    return n;
  }
  [[nodiscard]] std::string LastWords(JobRole, std::uint32_t) const override { return last_words; }
  void AskCheckpoint() override { acts.emplace_back("ask for a checkpoint"); }
  void Fail(JobFailure failure) override { failures.push_back(std::move(failure)); }
  void OnScriptFailed(int exit_code, const std::string& why) override {
    acts.push_back(fmt::format("script failed {}: {}", exit_code, why));
  }
  [[nodiscard]] bool IsFailing() const override { return !failures.empty(); }
  [[nodiscard]] bool IsEnding() const override { return ending; }

  std::vector<std::string> said, notes, acts;
  std::vector<JobFailure> failures;
  std::set<std::pair<JobRole, std::uint32_t>> running;
  std::string last_words;
  bool ending = false;
};

}  // namespace leeway::app
