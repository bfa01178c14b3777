#include "role/job_flags.h"

#include <fmt/format.h>

#include <array>

#include "base/errors.h"
#include "cli/policy_check.h"
#include "process/core_list.h"
#include "role/job_file.h"
#include "terminal/wrap_text.h"
#include "transport/stream/carrier.h"

namespace leeway::app {

void DeclareJobFlags(FlagSet& flags, JobOptions& job, const Policies& policies, JobOrigins* origins) {
  flags.Number("-w,--workers", "N", job.workers, 1, 4096, "workers");
  flags.Number("-s,--servers", "N", job.servers, 1, 1024, "server processes");
  flags.Number("--shards", "N", job.shards, 1, 64,
               "shards per server: one thread each, give it a core of its own");
  flags.Text("--sync", "SPEC", job.sync, "synchronization model of tables that name none",
             With(policies, CheckSync));
  flags.Text("--apply", "SPEC", job.apply,
             "how pushes are applied: immediate, aggregate:reduce=ordered,window=2, or relay (workers step) "
             "[default: the sync model's own]");
  flags.Each(
      "--rule", "RULE",
      [&job, &policies](const std::string& rule) -> Status {
        LW_RETURN_IF_ERROR(CheckRule(policies, rule));
        job.rules.push_back(rule);
        return Status::Ok();
      },
      "other synchronization for some tables or servers: 'tables=fc* server=1 sync=psp:2,50'; the last rule "
      "that matches counts");
  flags.Text("--pull", "SPEC", job.pull,
             "full, or partial:b,tau_ms: a worker continues when it has a share b of all blocks "
             "and tau has passed",
             CheckPull);
  flags.Text("--exchange", "SPEC", job.exchange,
             "when a worker pushes and pulls: every:k, when_stale:s or significant:t",
             With(policies, CheckExchange));
  flags.SwitchOff(
      "--no-overlap", job.overlap,
      "a barrier of all workers between the pushes and the pulls of an iteration; for comparison only");
  flags.Bytes("--flush-bytes", job.flush_bytes, 1, 1U << 30,
              "a worker's pushes to a shard leave in parts of this size, each with its pulls behind it; 1: "
              "block by block");
  flags.OneOf("--priorities", "WHAT", job.priorities, {{"on", true}, {"off", false}},
              "on: over TCP, frames of tables that an iteration uses first leave first; off: as they come");
  flags.Text("--pull-at", "WHEN", job.pull_at,
             "ready: a pull leaves with its push; clock: all pulls leave at Clock()",
             [](const std::string& when) -> Status {
               if (when == "ready" || when == "clock") return Status::Ok();
               return InvalidArgument("got \"{}\", wanted ready or clock", when);
             });
  flags.Text("--placement", "SPEC", job.placement,
             "which shard owns which block: lpt evens their bytes out; docs/placements.md compares all",
             With(policies, CheckPlacement));
  flags.BytesOrAuto("--block-bytes", job.block_bytes, 64, 64U << 20,
                    "the largest block; auto: an eighth of a shard's even share of the model, from 64KiB to "
                    "4MiB");
  flags.Number("--seed", "N", job.seed, 0, ~0ULL, "seed of all random draws");
  flags.Text("--job", "NAME", job.job, "name of the job; nodes of another one are refused",
             [](const std::string& name) -> Status {
               if (!name.ends_with(".toml")) return Status::Ok();
               return InvalidArgument(
                   "got \"{}\", wanted a name: a file that describes the job is --job-file {}", name, name);
             });
  flags.File("--job-file", "FILE", ReadJobFile,
             "TOML with the names of these flags as keys, and [[rule]] sections; flags win over it");
  if (origins == nullptr) return;
  flags.NoteOrigin("--sync", [origins](const std::string& from) { origins->sync = from; });
  flags.NoteOrigin("--apply", [origins](const std::string& from) { origins->apply = from; });
  flags.NoteOrigin("--rule", [origins](const std::string& from) { origins->rules.push_back(from); });
}

void DeclareLinkFlags(FlagSet& flags, LinkOptions& link) {
  flags.Time("--beat", link.beat, "a ping this long after the last frame sent");
  flags.Time("--silence-max", link.silence_max, "a peer silent for this long is cut off");
  flags.Time("--give-up-after", link.give_up_after,
             "a peer that cannot be reached for this long is given up");
  DeclareTransportFlag(flags, link.transport);
}

void DeclareCoresFlag(FlagSet& flags, std::string& cores) {
  // Here, so that leeway run refuses a wrong list before it starts a server with it.
  const auto check = [](const std::string& list) { return CoresOf(list, 0, 1, AllowedCores()).status(); };
  flags.Text(
      "--cores", "LIST", cores,
      "cores of a server's shards: auto (one each where cores are spare), none, or a list such as 0-3,6",
      check);
}

void DeclareTransportFlag(FlagSet& flags, std::string& transport) {
  flags.Text("--transport", "NAME", transport,
             "how frames travel: auto (shared memory on one host, else TCP), local (shared memory or "
             "nothing), uds (a Unix socket, to compare), tcp",
             [](const std::string& text) { return ParseCarrier(text).status(); });
}

void DeclareLogFlag(FlagSet& flags, LogLevel& level) {
  FlagSet::Choices<LogLevel> choices;
  for (const LogLevel each : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError})
    choices.emplace_back(NameOf(each), each);
  flags.OneOf("--log", "LEVEL", level, choices, "least level of log lines: debug, info, warning, error");
}

const char* NameOf(LogLevel level) {
  constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

Status CheckJobFlags(const JobOptions& job, const Policies& policies, const JobOrigins& origins) {
  if (const Status fits = CheckApply(policies, job.sync, job.apply); !fits.ok())
    return InvalidArgument("{} with {} {}: {}", origins.apply, origins.sync, job.sync, fits.message());
  LW_RETURN_IF_ERROR(CheckInJob(policies, job.sync, job).WithContext(origins.sync));
  std::size_t which = 0;
  Status rules = CheckRules(policies, job, which);
  if (rules.ok() || which >= job.rules.size()) return rules;
  return rules.WithContext(which < origins.rules.size() ? origins.rules[which] : "--rule");
}

std::string JobLesson() {
  const auto listed = [](const std::string& names) { return Wrapped(names, 14, 14); };
  return fmt::format(
      "Policies known here:\n"
      "  sync        {}\n"
      "              ssp:3 lets a worker run 3 iterations ahead; drop:3 waits for 3 of\n"
      "              the workers; psp:2,50 for 2 of them, and at most 50 ms longer;\n"
      "              your own: when:pull=\"progress < v_train + 2\",push=\"count >= 3\"\n"
      "  rule        [tables=GLOB] [server=N] sync=SPEC [apply=SPEC]; leeway ctl\n"
      "              set-sync RULE sets one while the job runs\n"
      "  apply       immediate, aggregate; aggregate:reduce=ordered gives the same bits\n"
      "              in every run; relay: servers keep means, and workers step\n"
      "  pull        full, partial:0.9,50\n"
      "  exchange    {}\n"
      "              every:4 in every 4th iteration; when_stale:3 when values lack\n"
      "              more than 3 iterations; significant:0.01 when |g| / |w| is larger\n"
      "  optimizer   {}\n"
      "  placement   {}\n",
      listed(KnownSyncModels()), KnownExchanges(), listed(KnownOptimizers()), listed(KnownPlacements()));
}

}  // namespace leeway::app
