#include "turns.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <sstream>

#include "base/errors.h"
#include "cpu.h"

namespace leeway::bench {
namespace {

double CpuOf(const Children& children) {
  double all = 0;
  for (const auto& child : children) all += ProcessorSeconds(child->pid());
  return all;
}

Result<Turn> OneTurn(const Side& side, double seconds) {
  Result<Turn> turn = side.run(seconds);
  if (!turn.ok()) return turn.status().WithContext(side.name);
  if (turn->count <= 0) return DeadlineExceeded("{}: nothing was done in {:.3g} s", side.name, turn->seconds);
  return turn;
}

}  // namespace

std::vector<double> Side::Each(const std::function<double(const Turn&)>& of) const {
  std::vector<double> values;
  values.reserve(turns.size());
  for (const Turn& turn : turns) values.push_back(of(turn));
  return values;
}

std::vector<double> Side::Rates() const {
  return Each([](const Turn& turn) { return turn.rate(); });
}

Status TakeTurns(std::vector<Side>& sides, const TurnPlan& plan) {
  for (const Side& side : sides) LW_RETURN_IF_ERROR(OneTurn(side, plan.warm_seconds).status());
  for (std::uint32_t i = 0; i < plan.repeats; ++i) {
    for (std::size_t k = 0; k < sides.size(); ++k) {
      Side& side = sides[i % 2 == 0 ? k : sides.size() - 1 - k];
      LW_ASSIGN_OR_RETURN(Turn turn, OneTurn(side, plan.seconds));
      side.turns.push_back(std::move(turn));
    }
  }
  return Status::Ok();
}

Orders RunOrder(RunFor run) {
  return {{"run", [run = std::move(run)](const std::string& words) -> Result<std::string> {
             double seconds = 0;
             if (std::from_chars(words.data(), words.data() + words.size(), seconds).ec != std::errc{})
               return InvalidArgument("run: got \"{}\", wanted seconds", words);
             auto latency = std::make_unique<LatencyHistogram>();
             const auto start = std::chrono::steady_clock::now();
             LW_ASSIGN_OR_RETURN(const std::uint64_t count, run(seconds, *latency));
             const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
             return fmt::format("{} {} {}", count, took.count(), latency->ToText());
           }}};
}

Result<Turn> RunTogether(const Children& clients, const Children& servers, double seconds) {
  const double clients_before = CpuOf(clients), servers_before = CpuOf(servers);
  for (const auto& client : clients) LW_RETURN_IF_ERROR(client->Tell(fmt::format("run {}", seconds)));
  Turn turn;
  for (const auto& client : clients) {
    LW_ASSIGN_OR_RETURN(const std::string line, client->Hear());
    std::istringstream words(line);
    double count = 0, took = 0;
    std::string latency;
    if (!(words >> count >> took >> latency))
      return Internal("got \"{}\" from a process of the bench, wanted count, seconds and latencies", line);
    LW_ASSIGN_OR_RETURN(const LatencyHistogram part, LatencyHistogram::FromText(latency));
    turn.count += count;
    // They began together; the last one's end is that of all.
    turn.seconds = std::max(turn.seconds, took);
    turn.latency.Add(part);
  }
  turn.server_cpu_s = CpuOf(servers) - servers_before;
  turn.cpu_s = CpuOf(clients) - clients_before + turn.server_cpu_s;
  return turn;
}

Status HearAll(const Children& children, const std::string& wanted, std::chrono::milliseconds limit) {
  for (const auto& child : children) {
    LW_ASSIGN_OR_RETURN(const std::string line, child->Hear(limit));
    if (line != wanted)
      return Internal("got \"{}\" from a process of the bench, wanted \"{}\"", line, wanted);
  }
  return Status::Ok();
}

Status AskAll(const Children& children, const std::string& line, std::chrono::milliseconds limit) {
  for (const auto& child : children) LW_RETURN_IF_ERROR(child->Tell(line));
  return HearAll(children, "done", limit);
}

}  // namespace leeway::bench
