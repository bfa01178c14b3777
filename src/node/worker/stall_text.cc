#include "node/worker/stall_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/printable.h"

namespace leeway {
namespace {

using Cause = Wait::Cause;

constexpr int kStandingsShown = 4;
constexpr std::size_t kLineBytesMax = 2048;

template <typename Ranks>
std::string Workers(const Ranks& ranks) {
  return fmt::format("worker{} {}", ranks.size() == 1 ? "" : "s",
                     fmt::join(ranks.begin(), ranks.end(), ", "));
}

bool OnScheduler(Cause cause) {
  return cause == Cause::kScheduler || cause == Cause::kGathering || cause == Cause::kTables ||
         cause == Cause::kBarrier || cause == Cause::kBatches || cause == Cause::kLeft ||
         cause == Cause::kMembers;
}

std::string BlockCondition(const StallFacts& facts) {
  if (!facts.shard_up) return fmt::format("{} is not connected", facts.shard);
  if (!facts.of_shard) return fmt::format("{} is connected and does not say why", facts.shard);
  const wire::pb::WhyReply& why = *facts.of_shard;
  if (!why.known())
    return fmt::format("{} does not have the block now: it has moved, or is being read", facts.shard);
  if (!why.initialized()) return "no rank has given the table its first values";
  if (why.missing().empty()) {
    return fmt::format("under {}, iteration {} is open there and lacks nobody: the answer is under way",
                       facts.sync, why.v_train());
  }
  return fmt::format("under {}, until iteration {} ends there; it lacks {}", facts.sync, why.v_train(),
                     Workers(why.missing()));
}

// The condition under which it goes on, and the missing workers.
std::string Condition(const StallFacts& facts) {
  const bool told = facts.of_scheduler.has_value();
  if (OnScheduler(facts.wait.cause) && !facts.scheduler_up) {
    return fmt::format("the scheduler is not connected; it was last heard of {:.1f} s ago",
                       facts.scheduler_age_s);
  }
  switch (facts.wait.cause) {
    case Cause::kValues:
    case Cause::kVerdict:
      return BlockCondition(facts);
    case Cause::kConnection:
      return fmt::format("{} is not connected", facts.shard);
    case Cause::kBarrier:
      if (told && !facts.of_scheduler->missing().empty())
        return fmt::format("until every member has called it; it lacks {}",
                           Workers(facts.of_scheduler->missing()));
      break;
    case Cause::kGathering:
      if (told && !facts.of_scheduler->not_here().empty())
        return fmt::format("until all are there; it lacks {}", facts.of_scheduler->not_here());
      break;
    case Cause::kMembers:
      return fmt::format("until every member has left; still in the job: {}", Workers(facts.wait.ranks));
    default:
      break;
  }
  return fmt::format("the scheduler is connected (last heard of {:.1f} s ago){}", facts.scheduler_age_s,
                     told ? "" : " and does not say why");
}

bool IsSilent(const wire::pb::Standing& who) { return who.state() == "suspect" || who.state() == "lost"; }

std::string Whereabouts(const wire::pb::Standing& who) {
  if (who.host().empty() && who.pid() == 0) return "";
  return fmt::format(" (process {} on {})", who.pid(), who.host().empty() ? "an unknown host" : who.host());
}

std::string Line(const wire::pb::Standing& who, WorkerId self) {
  const std::string name =
      fmt::format("worker {}{}", who.rank(), who.rank() == self.value() ? ", this one," : Whereabouts(who));
  if (who.state() == "lost") return name + " is lost, and its place is kept";
  if (who.state() == "awaited") return name + " has not come yet";
  const std::string at =
      who.iteration() < 0 ? std::string("has not begun") : fmt::format("is in iteration {}", who.iteration());
  return fmt::format(
      "{} {}, last heard of {:.1f} s ago, {}", name, at, who.silent_s(),
      !who.waiting_for().empty() ? "waits for " + who.waiting_for()
      : who.idle_s() > 0
          ? fmt::format("waits for nothing of the job, has made no call for {:.1f} s", who.idle_s())
          : std::string("waits for nothing of the job"));
}

std::string AdviceOn(const wire::pb::Standing& who, const StallFacts& facts) {
  const std::string process = who.pid() == 0 ? fmt::format("worker {}", who.rank())
                                             : fmt::format("process {} on {}", who.pid(),
                                                           who.host().empty() ? "its host" : who.host());
  if (who.state() == "lost")
    return fmt::format("start another worker with rank {}, or end the job", who.rank());
  if (IsSilent(who)) {
    return fmt::format(
        "{} is stopped, dead or cut off: look at it; the job does without it once it is declared dead",
        process);
  }
  if (who.rank() == facts.self.value())
    return "its own push has not come through: look at the connection to the server";
  if (!who.waiting_for().empty()) {
    return fmt::format("worker {} waits itself: look first at what it waits for", who.rank());
  }
  if (facts.wait.cause == Cause::kBarrier || facts.wait.cause == Cause::kMembers) {
    return fmt::format(
        "see why {} does not come to it: it computes, is done, or hangs (py-spy dump --pid shows where)",
        process);
  }
  return fmt::format(
      "see whether {} computes or hangs (py-spy dump --pid shows where); a looser model (--sync ssp:3) lets "
      "the "
      "others run ahead of a slow one",
      process);
}

std::string Advice(const StallFacts& facts) {
  const bool on_block = facts.wait.cause == Cause::kValues || facts.wait.cause == Cause::kVerdict;
  if (facts.wait.cause == Cause::kConnection || (on_block && !facts.shard_up)) {
    return fmt::format(
        "see whether {} runs and can be reached; this process tries to connect again for {:.0f} s",
        facts.shard, facts.give_up_after_s);
  }
  if (OnScheduler(facts.wait.cause) && !facts.scheduler_up) {
    return fmt::format(
        "see whether the scheduler runs and can be reached; this process tries to connect again for {:.0f} s",
        facts.give_up_after_s);
  }
  if (on_block && !facts.of_shard) return fmt::format("look at the log and the load of {}", facts.shard);
  if (on_block && facts.of_shard->known() && !facts.of_shard->initialized()) {
    return "let one rank call Broadcast (leeway.torch: broadcast_parameters, on all ranks)";
  }
  if (facts.wait.cause == Cause::kGathering && facts.of_scheduler &&
      !facts.of_scheduler->not_here().empty()) {
    return "start what is missing, with this job's scheduler; the job fails if it does not come in time";
  }
  if (facts.of_scheduler) {
    const auto& all = facts.of_scheduler->standings();
    const auto silent = std::find_if(all.begin(), all.end(), IsSilent);
    const auto busy =
        std::find_if(all.begin(), all.end(), [](const auto& who) { return who.waiting_for().empty(); });
    if (silent != all.end()) return AdviceOn(*silent, facts);
    if (busy != all.end()) return AdviceOn(*busy, facts);
    if (!all.empty()) return AdviceOn(all[0], facts);
  }
  return "kill -QUIT of leeway run, or of the scheduler, shows what everyone waits for";
}

}  // namespace

bool IsForMembers(const StallFacts& facts) {
  const auto lacks_others = [&facts](const std::optional<wire::pb::WhyReply>& reply) {
    return reply && std::ranges::any_of(reply->missing(),
                                        [&](std::uint32_t rank) { return rank != facts.self.value(); });
  };
  switch (facts.wait.cause) {
    case Cause::kMembers:
      return true;
    case Cause::kGathering:
      return facts.scheduler_up;
    case Cause::kBarrier:
      return lacks_others(facts.of_scheduler);
    case Cause::kValues:
      // A read is answered at once, and so is a pull that does not wait in its block: the server owes both.
      if (facts.wait.is_read || !facts.of_shard) return false;
      return (facts.of_shard->delayed() && lacks_others(facts.of_shard)) ||
             (facts.of_shard->known() && !facts.of_shard->initialized() && !facts.alone);
    case Cause::kVerdict:
      return facts.wait.held && facts.of_shard && Iteration(facts.of_shard->v_train()) < *facts.wait.held &&
             lacks_others(facts.of_shard);
    default:
      return false;
  }
}

std::string StallText(const StallFacts& facts) {
  std::vector<std::string> lines{facts.wait.text, Condition(facts)};
  if (facts.of_scheduler) {
    const auto& all = facts.of_scheduler->standings();
    for (int i = 0; i < std::min(all.size(), kStandingsShown); ++i) lines.push_back(Line(all[i], facts.self));
    if (all.size() > kStandingsShown)
      lines.push_back(fmt::format("and {} more workers", all.size() - kStandingsShown));
  }
  lines.push_back("what to do: " + Advice(facts));
  // Names, hosts and what others wait for are texts of peers.
  for (std::string& line : lines) line = Printable(line, kLineBytesMax);
  return fmt::format("{}", fmt::join(lines, "\n  "));
}

}  // namespace leeway
