#include "scenario/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "base/errors.h"
#include "base/number_from.h"
#include "base/split.h"
#include "scenario/disturbance.h"
#include "scenario/quoted_text.h"

namespace leeway::scenario {
namespace {

using Factors = std::vector<std::pair<std::uint32_t, double>>;

constexpr double kBytesPerGigabit = 125e6;

// One key: how it is parsed, and how it is written.
struct Key {
  std::string name;
  std::string wanted;
  std::string help;
  bool is_text = false;  // in quotes in a file
  bool is_list = false;
  std::function<bool(Scenario&, const std::vector<std::string>&)> read;  // false: not what was wanted
  std::function<std::vector<std::string>(const Scenario&)> write;
};

template <typename Number>
bool ReadNumber(const std::string& text, Number low, Number high, Number& number) {
  const auto read = NumberFrom<Number>(text);
  // NaN fails both comparisons.
  if (!read || !(*read >= low && *read <= high)) return false;
  number = *read;
  return true;
}

// "3:2.5": the rank or server, and its factor.
bool ReadFactor(const std::string& text, std::pair<std::uint32_t, double>& factor) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  return ReadNumber<std::uint32_t>(text.substr(0, colon), 0, 1U << 20, factor.first) &&
         ReadNumber(text.substr(colon + 1), 1e-3, 1e3, factor.second);
}

// The place of a value in a scenario.
template <typename Value>
using Place = std::function<Value&(Scenario&)>;

template <typename Value>
const Value& At(const Place<Value>& place, const Scenario& scenario) {
  return place(const_cast<Scenario&>(scenario));  // a place only points
}

Key RealKey(std::string name, double low, double high, const Place<double>& place, std::string help) {
  Key key{.name = std::move(name),
          .wanted = fmt::format("a number from {} to {}", low, high),
          .help = std::move(help),
          .read = [=](Scenario& s, const auto& texts) { return ReadNumber(texts[0], low, high, place(s)); },
          .write = [=](const Scenario& s) { return std::vector{fmt::format("{}", At(place, s))}; }};
  return key;
}

template <typename Count>
Key CountKey(std::string name, Count low, Count high, const Place<Count>& place, std::string help) {
  return {.name = std::move(name),
          .wanted = fmt::format("a whole number from {} to {}", low, high),
          .help = std::move(help),
          .read = [=](Scenario& s, const auto& texts) { return ReadNumber(texts[0], low, high, place(s)); },
          .write = [=](const Scenario& s) { return std::vector{fmt::format("{}", At(place, s))}; }};
}

Key TextKey(std::string name, std::string wanted, const Place<std::string>& place, std::string help) {
  return {.name = std::move(name),
          .wanted = std::move(wanted),
          .help = std::move(help),
          .is_text = true,
          .read =
              [=](Scenario& s, const auto& texts) {
                place(s) = texts[0];
                return true;
              },
          .write = [=](const Scenario& s) { return std::vector{At(place, s)}; }};
}

Key SwitchKey(std::string name, const Place<bool>& place, std::string help) {
  return {
      .name = std::move(name),
      .wanted = "true or false",
      .help = std::move(help),
      .read =
          [=](Scenario& s, const auto& texts) {
            place(s) = texts[0] == "true";
            return texts[0] == "true" || texts[0] == "false";
          },
      .write = [=](const Scenario& s) { return std::vector<std::string>{At(place, s) ? "true" : "false"}; }};
}

Key FactorsKey(std::string name, const Place<Factors>& place, std::string help) {
  return {.name = std::move(name),
          .wanted = "a list of \"NUMBER:FACTOR\", each factor from 0.001 to 1000",
          .help = std::move(help),
          .is_text = true,
          .is_list = true,
          .read =
              [=](Scenario& s, const auto& texts) {
                Factors factors(texts.size());
                for (std::size_t i = 0; i < texts.size(); ++i) {
                  if (!ReadFactor(texts[i], factors[i])) return false;
                }
                place(s) = factors;
                return true;
              },
          .write =
              [=](const Scenario& s) {
                std::vector<std::string> texts;
                for (const auto& [who, factor] : At(place, s))
                  texts.push_back(fmt::format("{}:{}", who, factor));
                return texts;
              }};
}

Key CountsKey(std::string name, const Place<std::vector<std::uint64_t>>& place, std::string help) {
  return {.name = std::move(name),
          .wanted = "a list of whole numbers",
          .help = std::move(help),
          .is_list = true,
          .read =
              [=](Scenario& s, const auto& texts) {
                std::vector<std::uint64_t> counts(texts.size());
                for (std::size_t i = 0; i < texts.size(); ++i) {
                  if (!ReadNumber<std::uint64_t>(texts[i], 0, std::uint64_t{1} << 40, counts[i]))
                    return false;
                }
                place(s) = counts;
                return true;
              },
          .write =
              [=](const Scenario& s) {
                std::vector<std::string> texts;
                for (const std::uint64_t count : At(place, s)) texts.push_back(fmt::format("{}", count));
                return texts;
              }};
}

Key TextsKey(std::string name, std::string wanted, const Place<std::vector<std::string>>& place,
             std::string help) {
  return {.name = std::move(name),
          .wanted = std::move(wanted),
          .help = std::move(help),
          .is_text = true,
          .is_list = true,
          .read =
              [=](Scenario& s, const auto& texts) {
                place(s) = texts;
                return true;
              },
          .write = [=](const Scenario& s) { return At(place, s); }};
}

// The learning rate and its relatives are floats where they are used.
Key FloatKey(std::string name, double low, double high, const Place<float>& place, std::string help) {
  return {.name = std::move(name),
          .wanted = fmt::format("a number from {} to {}", low, high),
          .help = std::move(help),
          .read =
              [=](Scenario& s, const auto& texts) {
                double read = 0;
                if (!ReadNumber(texts[0], low, high, read)) return false;
                place(s) = static_cast<float>(read);
                return true;
              },
          .write = [=](const Scenario& s) { return std::vector{fmt::format("{}", At(place, s))}; }};
}

// Bytes per second, written in Gbit/s.
Key GigabitKey(std::string name, const Place<double>& place, std::string help) {
  return {
      .name = std::move(name),
      .wanted = "a number from 0.001 to 10000",
      .help = std::move(help),
      .read =
          [=](Scenario& s, const auto& texts) {
            double read = 0;
            if (!ReadNumber(texts[0], 1e-3, 1e4, read)) return false;
            place(s) = read * kBytesPerGigabit;
            return true;
          },
      .write =
          [=](const Scenario& s) { return std::vector{fmt::format("{}", At(place, s) / kBytesPerGigabit)}; }};
}

#define LW_AT(path) \
  [](Scenario & s) -> auto& { return s.path; }

constexpr double kDay = 86'400, kYear = 365 * kDay;  // seconds

std::vector<Key> KeysOfTheJob() {
  return {
      TextKey("name", "text", LW_AT(name), "what the report calls it"),
      CountKey<std::uint64_t>("iterations", 1, 100'000'000, LW_AT(iterations), "of every worker"),
      CountKey<std::uint64_t>(
          "pool", 0, 100'000'000'000, LW_AT(pool),
          "iterations of all together, drawn as from a BatchPool; 0: `iterations` of each"),
      RealKey("seconds_max", 1e-3, std::numeric_limits<double>::infinity(), LW_AT(seconds_max),
              "simulated; a job that is not done by then is stopped"),

      CountKey<std::uint32_t>("cluster.workers", 1, 65'536, LW_AT(job.workers), "one machine each"),
      CountKey<std::uint32_t>("cluster.servers", 1, 4'096, LW_AT(job.servers), "one machine each"),
      RealKey("cluster.cores", 0, 1e6, LW_AT(cores),
              "that all workers and servers share, as on one machine; 0: each has one of its own"),
      SwitchKey(
          "cluster.together", LW_AT(together),
          "true: worker i and server i share one machine's card; the others have machines of their own"),
      CountKey<std::uint32_t>("cluster.shards", 1, 256, LW_AT(job.shards),
                              "cores of a server that serve blocks"),
  };
}

std::vector<Key> KeysOfComputing() {
  return {
      RealKey("compute.base_s", 0, kDay, LW_AT(compute.base_s), "seconds for a gradient"),
      RealKey("compute.per_sample_s", 0, kDay, LW_AT(compute.per_sample_s),
              "... and for each sample of the problem's batch"),
      RealKey("compute.spread", 0, 5, LW_AT(compute.spread),
              "sigma of the lognormal factor of each iteration"),
      RealKey("compute.heterogeneity", 0, 5, LW_AT(compute.heterogeneity),
              "sigma of the lognormal factor that each worker keeps"),
      FactorsKey("compute.factors", LW_AT(compute.factors), "of single ranks: [\"0:2.5\"] is slow by 2.5"),
      RealKey("compute.tail_chance", 0, 1, LW_AT(compute.tail_chance),
              "share of iterations with a heavy tail"),
      RealKey("compute.tail_alpha", 0.1, 100, LW_AT(compute.tail_alpha),
              "their factor is above x with chance x^-alpha"),
      RealKey("compute.tail_max", 1, 1e6, LW_AT(compute.tail_max), "... and at most this"),
      RealKey("compute.phase_chance", 0, 1, LW_AT(compute.phase_chance),
              "a slow phase begins with this chance in each iteration"),
      RealKey("compute.phase_iterations", 1, 1e6, LW_AT(compute.phase_iterations), "its mean length"),
      RealKey("compute.phase_factor", 1e-3, 1e3, LW_AT(compute.phase_factor), "its factor"),
      RealKey("compute.backward_share", 0, 1, LW_AT(compute.backward_share),
              "the last part of the compute time, in which gradients become ready; 0: all at the end"),
      RealKey("compute.forward_share", 0, 1, LW_AT(compute.forward_share),
              "the first part of the compute time, in which tables are used one after the other, by "
              "multiply-adds; 0: all values are needed at the beginning"),
      RealKey("compute.elsewhere_s", 0, kDay, LW_AT(compute.elsewhere_s),
              "seconds of each iteration that need no core, before the rest"),
      FactorsKey("compute.slowed", LW_AT(compute.slowed),
                 "ranks that sleep after their pushes, as with leeway run --slow-worker: [\"3:4\"]"),
  };
}

std::vector<Key> KeysOfLinksAndServers() {
  return {
      RealKey("links.latency_s", 0, 100, LW_AT(links.latency_s), "one way"),
      GigabitKey("links.worker_gbit", LW_AT(links.worker_bytes_per_second),
                 "of each direction of a worker's card"),
      GigabitKey("links.server_gbit", LW_AT(links.server_bytes_per_second),
                 "of each direction of a server's card"),

      RealKey("server.per_message_s", 0, 1, LW_AT(server.per_message_s), "a shard's time for a message"),
      RealKey("server.per_byte_s", 0, 1e-3, LW_AT(server.per_byte_s),
              "a shard's time for a byte of gradients or parameters"),
      FactorsKey("server.factors", LW_AT(server.factors), "of single servers: [\"1:8\"] is slow by 8"),
  };
}

std::vector<Key> KeysOfDisturbances() {
  return {
      TextsKey(
          "changes.plan",
          "a list of \"at=S for=S link=WHOM slower=X\", with every=S: at random, work=WHOM: compute, "
          "messages",
          LW_AT(changes),
          "speeds that change; WHOM is worker.N, server.N, workers, servers or all, X from 0.001 to 1000"),

      TextsKey("faults.plan",
               "a list of \"at=S for=S kill=WHOM\", with every=S: at random, cut=WHOM: the link",
               LW_AT(faults.plan), "processes that die and links that are cut; without for=S, to the end"),
      RealKey("faults.restart_s", 0, std::numeric_limits<double>::infinity(), LW_AT(faults.restart_s),
              "a process that ended because of a fault starts again after so long; inf: never"),
      RealKey("faults.expel_after_s", 1, kDay, LW_AT(faults.expel_after_s),
              "a member that is silent for so long counts as dead"),
      CountKey<std::uint64_t>("faults.checkpoint_every", 0, 100'000'000, LW_AT(faults.checkpoint_every),
                              "iterations between checkpoints, which lost servers go on from; 0: none"),
  };
}

std::vector<Key> KeysOfCosts() {
  return {
      RealKey("cost.encode_per_byte_s", 0, 1e-3, LW_AT(jobs.encode_per_byte_s),
              "time to encode a byte of values, beside a node's other work"),
      RealKey("cost.decode_per_byte_s", 0, 1e-3, LW_AT(jobs.decode_per_byte_s), "... to decode one"),
      RealKey("cost.job_s", 0, 1, LW_AT(jobs.job_s), "... for each job of that kind"),

      RealKey("delays.answer_chance", 0, 1, LW_AT(answer_delay.chance),
              "share of the answers of a server to a worker in an iteration that are late"),
      RealKey("delays.answer_s", 0, kDay, LW_AT(answer_delay.seconds), "... by so many seconds"),
  };
}

std::vector<Key> KeysOfPolicies() {
  return {
      TextKey("policies.sync", "a synchronization model, as leeway run takes it", LW_AT(job.sync),
              "bsp, ssp:3, ..."),
      TextKey("policies.apply", "an apply mode, or nothing", LW_AT(job.apply), "empty: the model's own"),
      TextsKey("policies.rules", "a list of rules: \"server=1 sync=asp\"", LW_AT(job.rules),
               "tables and servers with another model"),
      TextsKey("policies.switches", "a list of \"at=S RULE\": \"at=150 sync=asp\"", LW_AT(switches),
               "rules that come into force while the job runs, as by leeway ctl set-sync"),
      TextKey("policies.pull", "full or partial:b,tau_ms", LW_AT(job.pull), "what a worker waits for"),
      TextKey("policies.exchange", "every:k, when_stale:s or significant:t", LW_AT(job.exchange),
              "when a worker pushes and pulls"),
      TextKey("policies.placement", "lpt, eps, round_robin, range or raw_keys", LW_AT(job.placement),
              "which server has which block"),
      SwitchKey("policies.overlap", LW_AT(job.overlap),
                "false: a barrier between the pushes and the pulls of an iteration, as PS-Lite has it"),
      CountKey<std::uint32_t>("policies.flush_bytes", 1, 1U << 30, LW_AT(job.flush_bytes),
                              "a shard's pushes leave in parts of so many bytes, each with its pulls behind "
                              "it; 1: block by block"),
      SwitchKey("policies.priorities", LW_AT(job.priorities),
                "messages of the tables that an iteration uses first leave first"),
      TextKey("policies.pull_at", "ready or clock", LW_AT(job.pull_at),
              "ready: a pull leaves with its push; clock: all pulls leave when the iteration ends"),
      CountKey<std::uint32_t>("policies.block_bytes", 0, 1U << 30, LW_AT(job.block_bytes),
                              "tables are cut into these; 0: by need, as leeway run does"),
  };
}

std::vector<Key> KeysOfTraining() {
  return {
      TextKey("training.problem", "a problem: quadratic, softmax:..., mlp:..., ghost:...", LW_AT(problem),
              "docs/problems.md has them"),
      TextKey("training.optimizer", "an optimizer, as leeway.torch maps them", LW_AT(optimizer),
              "sgd, momentum, ..."),
      RealKey("training.rate", 0, 1e3, LW_AT(rate.rate), "the learning rate"),
      RealKey("training.rate_factor", 0, 1e3, LW_AT(rate.factor), "times this"),
      CountsKey("training.rate_at", LW_AT(rate.at), "... from each of these iterations on"),
      FloatKey("training.momentum", 0, 1, LW_AT(hyper.momentum), "beta1 for adam"),
      FloatKey("training.weight_decay", 0, 1, LW_AT(hyper.weight_decay), ""),

      CountKey<std::uint64_t>(
          "record.judge_every", 0, 1U << 30, LW_AT(recording.judge_every),
          "iterations between judgements, of the workers that still train, on average; 0: at the end only"),
      RealKey("record.timeline_from_s", 0, kYear, LW_AT(recording.timeline_from_s), "begin of the timeline"),
      RealKey("record.timeline_s", 0, kYear, LW_AT(recording.timeline_s), "length of the timeline; 0: none"),
      CountKey<std::uint32_t>("record.map_columns", 1, 1000, LW_AT(recording.map_columns),
                              "of the maps of workers against time"),
  };
}

#undef LW_AT

const std::vector<Key>& AllKeys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> all = KeysOfTheJob();
    for (const auto part : {KeysOfComputing, KeysOfLinksAndServers, KeysOfDisturbances, KeysOfCosts,
                            KeysOfPolicies, KeysOfTraining})
      std::ranges::move(part(), std::back_inserter(all));
    return all;
  }();  // made once; nobody changes it
  return keys;
}

std::string Shown(const Key& key, const Scenario& scenario) {
  std::vector<std::string> texts = key.write(scenario);
  if (key.is_text) std::ranges::transform(texts, texts.begin(), Quoted);
  return key.is_list ? fmt::format("[{}]", fmt::join(texts, ", ")) : texts[0];
}

}  // namespace

Written Plain(std::string_view text) {
  return {.texts = {std::string(text)}, .got = fmt::format("\"{}\"", text)};
}

Status SetKey(Scenario& scenario, const std::string& name, const Written& value) {
  constexpr std::size_t kShownBytesMax = 100;
  const auto found = std::ranges::find(AllKeys(), name, &Key::name);
  if (found == AllKeys().end()) {
    std::vector<std::string> known;
    for (const Key& key : AllKeys()) known.push_back(key.name);
    return InvalidArgument("unknown key \"{}\"{}", name, DidYouMean(name, known));
  }
  const Key& key = *found;
  Status refused = InvalidArgument("{}: got {}, wanted {}", name, value.got, key.wanted);
  if (value.is_list && !key.is_list) return refused;
  if (value.is_quoted && !key.is_text) return refused;
  std::vector<std::string> texts = value.texts;
  if (key.is_list && !value.is_list) {
    if (value.is_quoted) return refused;
    texts = value.texts[0].empty() ? std::vector<std::string>{} : SplitAt(value.texts[0], ',');
  }
  if (key.is_text) {
    const auto odd = std::ranges::find_if_not(texts, IsPlainText);
    if (odd != texts.end()) {
      return InvalidArgument("{}: got {}, wanted {}: UTF-8 without control characters", name,
                             Quoted(std::string_view(*odd).substr(0, kShownBytesMax)), key.wanted);
    }
  }
  Scenario changed = scenario;
  if (!key.read(changed, texts)) return refused;
  scenario = std::move(changed);
  return Status::Ok();
}

std::vector<KeyText> KeysOf(const Scenario& scenario) {
  std::vector<KeyText> texts;
  for (const Key& key : AllKeys()) texts.push_back({key.name, key.wanted, key.help, Shown(key, scenario)});
  return texts;
}

std::string ToToml(const Scenario& scenario) {
  std::string text, section;
  for (const Key& key : AllKeys()) {
    const std::size_t dot = key.name.find('.');
    const std::string of = dot == std::string::npos ? "" : key.name.substr(0, dot);
    if (of != section) text += fmt::format("\n[{}]\n", of);
    section = of;
    const std::string word = dot == std::string::npos ? key.name : key.name.substr(dot + 1);
    text += fmt::format("{} = {}\n", word, Shown(key, scenario));
  }
  return text;
}

Status CheckWhole(const Scenario& scenario) {
  if (scenario.cores > 0 && scenario.cores < 0.01) {
    return InvalidArgument("{}: got {}, wanted 0 or at least 0.01", KeyWithPlace(scenario, "cluster.cores"),
                           scenario.cores);
  }
  const LinkModel& links = scenario.links;
  if (scenario.together && links.worker_bytes_per_second != links.server_bytes_per_second) {
    return InvalidArgument(
        "{}: got true with links.worker_gbit {} and links.server_gbit {}, wanted the same rate for both: a "
        "worker and a server share one card",
        KeyWithPlace(scenario, "cluster.together"), links.worker_bytes_per_second / kBytesPerGigabit,
        links.server_bytes_per_second / kBytesPerGigabit);
  }
  if (scenario.compute.forward_share + scenario.compute.backward_share > 1 + 1e-9) {
    return InvalidArgument("{}: got {} and compute.backward_share {}, wanted at most 1 together",
                           KeyWithPlace(scenario, "compute.forward_share"), scenario.compute.forward_share,
                           scenario.compute.backward_share);
  }
  for (const auto& [rank, factor] : scenario.compute.factors) {
    if (rank >= scenario.job.workers) {
      return InvalidArgument("{}: got rank {}, wanted one below {}, the number of workers",
                             KeyWithPlace(scenario, "compute.factors"), rank, scenario.job.workers);
    }
  }
  for (const auto& [rank, factor] : scenario.compute.slowed) {
    if (rank >= scenario.job.workers || factor < 1) {
      return InvalidArgument(
          "{}: got {}:{}, wanted a rank below {}, the number of workers, and a factor of at least 1",
          KeyWithPlace(scenario, "compute.slowed"), rank, factor, scenario.job.workers);
    }
  }
  for (const auto& [server, factor] : scenario.server.factors) {
    if (server >= scenario.job.servers) {
      return InvalidArgument("{}: got server {}, wanted one below {}, the number of servers",
                             KeyWithPlace(scenario, "server.factors"), server, scenario.job.servers);
    }
  }
  return DisturbancesOf(scenario).status();
}

}  // namespace leeway::scenario
