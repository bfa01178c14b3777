#include "node/scheduler/wait_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "block/worker_names.h"

namespace leeway {
namespace {

constexpr std::size_t kWaitsNamed = 4;

}  // namespace

void WaitGraph::OnReport(WorkerId rank, std::uint64_t life, bool waits, std::uint64_t acts, TimePoint now) {
  State& state = states_[rank];
  if (state.life == life && state.waits == waits && state.acts == acts) return;
  state = State{};
  state.life = life;
  state.waits = waits;
  state.acts = acts;
  state.since = now;
}

void WaitGraph::OnAnswer(WorkerId rank, std::uint64_t life, std::uint64_t round, Answer answer) {
  const auto state = states_.find(rank);
  if (state == states_.end() || state->second.life != life) return;
  if (answer.waits && answer.acts == state->second.acts) state->second.answer = answer;
  if (const auto asked = answers_.find(rank); open_ && round == round_ && asked != answers_.end()) {
    asked->second = std::move(answer);
  }
}

void WaitGraph::DiscountPause(Duration pause) {
  for (auto& [rank, state] : states_) state.since += pause;
}

const WaitGraph::State* WaitGraph::Find(const Worker& worker) const {
  const auto found = states_.find(worker.rank);
  return found != states_.end() && found->second.life == worker.life ? &found->second : nullptr;
}

std::optional<WaitGraph::Round> WaitGraph::BeginRound(std::span<const Worker> workers, TimePoint now) {
  if (open_) return std::nullopt;
  answers_.clear();
  Round round;
  round.number = round_ + 1;
  for (const Worker& worker : workers) {
    const State* state = Find(worker);
    if (state == nullptr || !state->waits || now - state->since < ask_after_) continue;
    round.asked.push_back(worker.rank);
    answers_[worker.rank];
  }
  if (round.asked.empty()) return std::nullopt;
  round_ = round.number;
  open_ = true;
  began_ = now;
  return round;
}

std::optional<std::string> WaitGraph::EndRound(std::span<const Worker> workers, bool all_here, Epoch epoch,
                                               TimePoint now) {
  if (!open_) return std::nullopt;
  const bool whole =
      std::ranges::all_of(answers_, [](const auto& entry) { return entry.second.has_value(); });
  if (!whole && now - began_ < round_limit_) return std::nullopt;
  open_ = false;
  std::string picture = whole && all_here ? Picture(workers, epoch) : "";
  alike_ = picture.empty() ? 0 : (picture == picture_ ? alike_ + 1 : 1);
  picture_ = std::move(picture);
  if (alike_ < kRoundsAlike) return std::nullopt;
  return Describe(workers);
}

std::string WaitGraph::Picture(std::span<const Worker> workers, Epoch epoch) const {
  std::set<WorkerId> counted;
  for (const Worker& worker : workers) {
    if (worker.counted) counted.insert(worker.rank);
  }
  if (counted.size() < 2) return "";  // all have left, or one is left: nobody waits for it
  const auto is_counted = [&](WorkerId rank) { return counted.contains(rank); };
  std::string picture = fmt::format("{}", epoch.value());
  for (const Worker& worker : workers) {
    if (!worker.counted) continue;
    const auto asked = answers_.find(worker.rank);
    if (Find(worker) == nullptr || asked == answers_.end() || !asked->second) return "";
    const Answer& answer = *asked->second;
    if (!answer.waits || !answer.settled || answer.open.empty()) return "";
    picture += fmt::format("|{} {} {}", worker.rank.value(), worker.life, answer.acts);
    for (const Open& open : answer.open) {
      const bool others =
          std::ranges::any_of(open.missing, [&](WorkerId rank) { return rank != worker.rank; });
      // A missing worker that is no member has left, and the block does not know it yet.
      if (!others || !std::ranges::all_of(open.missing, is_counted)) return "";
      picture += fmt::format(";{} {}", open.what, open.v_train.value());
      for (const WorkerId rank : open.missing) picture += fmt::format(" {}", rank.value());
    }
  }
  return picture;
}

std::string WaitGraph::Describe(std::span<const Worker> workers) const {
  // Workers that wait for the same are named together.
  std::vector<std::pair<const Open*, std::vector<WorkerId>>> waits;
  for (const Worker& worker : workers) {
    if (!worker.counted) continue;
    const Open& open = answers_.at(worker.rank)->open.front();
    const auto same = std::ranges::find_if(waits, [&](const auto& entry) {
      return entry.first->what == open.what && entry.first->missing == open.missing;
    });
    if (same == waits.end()) {
      waits.push_back({&open, {worker.rank}});
    } else {
      same->second.push_back(worker.rank);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [open, who] : waits) {
    if (lines.size() == kWaitsNamed) {
      lines.push_back(fmt::format("and {} more waits", waits.size() - kWaitsNamed));
      break;
    }
    std::vector<WorkerId> missing = open->missing;
    if (who.size() == 1) std::erase(missing, who.front());
    lines.push_back(fmt::format("{} wait{} for {}, which needs {}", WorkerNames(who),
                                who.size() == 1 ? "s" : "", open->what, WorkerNames(missing)));
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

std::vector<WaitGraph::Idle> WaitGraph::IdleOnes(std::span<const Worker> workers, TimePoint now) const {
  std::map<WorkerId, Idle> idle;
  for (const Worker& worker : workers) {
    const State* state = Find(worker);
    if (state == nullptr || state->waits || !worker.counted) continue;
    idle.emplace(worker.rank, Idle{worker.rank, now - state->since, Duration::zero(), {}, worker.limit});
  }
  for (const Worker& worker : workers) {
    const State* state = Find(worker);
    if (state == nullptr || !state->waits || !state->answer) continue;
    for (const Open& open : state->answer->open) {
      for (const WorkerId rank : open.missing) {
        const auto found = idle.find(rank);
        if (found == idle.end()) continue;
        Idle& who = found->second;
        who.waited = std::max(who.waited, now - state->since);
        if (who.waiters.empty() || who.waiters.back() != worker.rank) who.waiters.push_back(worker.rank);
      }
    }
  }
  std::vector<Idle> waited_for;
  for (auto& [rank, who] : idle) {
    if (!who.waiters.empty()) waited_for.push_back(std::move(who));
  }
  return waited_for;
}

bool WaitGraph::IsReminderDue(const Idle& who, Duration every, TimePoint now) {
  State& state = states_.at(who.rank);
  // Both must have lasted. Otherwise the worker has just become idle, or the others have just begun to wait.
  if (std::min(who.idle, who.waited) < every || now - state.reminded < every) return false;
  state.reminded = now;
  return true;
}

std::optional<Duration> WaitGraph::IdleFor(WorkerId rank, TimePoint now) const {
  const auto found = states_.find(rank);
  if (found == states_.end() || found->second.waits) return std::nullopt;
  return now - found->second.since;
}

}  // namespace leeway
