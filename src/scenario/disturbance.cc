#include "scenario/disturbance.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/errors.h"
#include "base/number_from.h"
#include "base/split.h"

namespace leeway::scenario {
namespace {

using What = Disturbance::What;
using Whom = Disturbance::Whom;

constexpr double kSecondsMax = 365.0 * 86'400, kSecondsMin = 1e-3;
constexpr double kSlowerMin = 1e-3, kSlowerMax = 1e3;
constexpr const char* kWhomWanted = "worker.N, server.N, workers, servers or all";

bool ReadWithin(std::string_view text, double low, double high, double& number) {
  const auto read = NumberFrom<double>(text);
  // NaN fails both comparisons.
  if (!read || !(*read >= low && *read <= high)) return false;
  number = *read;
  return true;
}

bool ReadWhom(std::string_view text, Disturbance& read) {
  const std::pair<std::string_view, Whom> groups[] = {
      {"workers", Whom::kWorkers}, {"servers", Whom::kServers}, {"all", Whom::kAll}};
  for (const auto& [name, whom] : groups) {
    if (text != name) continue;
    read.whom = whom;
    return true;
  }
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view role = text.substr(0, dot);
  const auto index = NumberFrom<std::uint32_t>(text.substr(dot + 1));
  if ((role != "worker" && role != "server") || !index) return false;
  read.whom = Whom::kOne;
  read.one = {.is_server = role == "server", .index = *index};
  return true;
}

// Reads one word. Returns what was wanted in its place; empty: the word is fine.
std::string ReadWord(std::string_view key, std::string_view value, Disturbance& read) {
  const std::pair<std::string_view, What> whats[] = {
      {"link", What::kLink}, {"work", What::kWork}, {"cut", What::kCut}, {"kill", What::kKill}};
  for (const auto& [name, what] : whats) {
    if (key != name) continue;
    read.what = what;
    return ReadWhom(value, read) ? "" : kWhomWanted;
  }
  if (key == "at") {
    return ReadWithin(value, 0, kSecondsMax, read.seconds) ? ""
                                                           : fmt::format("seconds from 0 to {}", kSecondsMax);
  }
  const std::string seconds_wanted = fmt::format("seconds from {} to {}", kSecondsMin, kSecondsMax);
  if (key == "every") {
    read.is_random = true;
    return ReadWithin(value, kSecondsMin, kSecondsMax, read.seconds) ? "" : seconds_wanted;
  }
  if (key == "for") {
    return ReadWithin(value, kSecondsMin, kSecondsMax, read.for_s.emplace()) ? "" : seconds_wanted;
  }
  if (key == "slower") {
    return ReadWithin(value, kSlowerMin, kSlowerMax, read.slower)
               ? ""
               : fmt::format("a number from {} to {}", kSlowerMin, kSlowerMax);
  }
  return "at=, every=, for=, link=, work=, slower=, cut= or kill=";
}

// Whether exactly one of `names` is among the keys.
bool HasOneOf(const std::vector<std::string>& keys, std::initializer_list<std::string_view> names) {
  return 1 == std::ranges::count_if(
                  keys, [&](const std::string& key) { return std::ranges::find(names, key) != names.end(); });
}

// Returns what the words lack together; empty: they lack nothing.
std::string WantedTogether(const Disturbance& read, const std::vector<std::string>& keys) {
  if (!HasOneOf(keys, {"at", "every"})) return "one of at= and every=";
  if (!HasOneOf(keys, {"link", "work", "cut", "kill"})) return "one of link=, work=, cut= and kill=";
  const bool slows = read.what == What::kLink || read.what == What::kWork;
  if (slows != HasOneOf(keys, {"slower"})) return "slower= with link= and work=, and only with them";
  std::vector<std::string> sorted = keys;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return "each word once";
  return "";
}

bool IsMember(const Member& member, const Scenario& scenario) {
  return member.index < (member.is_server ? scenario.job.servers : scenario.job.workers);
}

// The texts of one key, all of them changes or all of them faults.
Status AppendPlan(const Scenario& scenario, const char* key, const std::vector<std::string>& texts,
                  bool are_changes, std::vector<Disturbance>& all) {
  for (const std::string& text : texts) {
    const Result<Disturbance> read = ParseDisturbance(text);
    if (!read.ok()) return InvalidArgument("{}: {}", KeyWithPlace(scenario, key), read.status().message());
    const bool is_change = read->what == What::kLink || read->what == What::kWork;
    if (is_change != are_changes) {
      return InvalidArgument("{}: got \"{}\", wanted {}", KeyWithPlace(scenario, key), text,
                             are_changes ? "link= or work= (faults.plan has cut= and kill=)"
                                         : "cut= or kill= (changes.plan has link= and work=)");
    }
    if (read->whom == Whom::kOne && !IsMember(read->one, scenario)) {
      return InvalidArgument("{}: got \"{}\", wanted a {} below {}, the number of {}s",
                             KeyWithPlace(scenario, key), text, read->one.is_server ? "server" : "worker",
                             read->one.is_server ? scenario.job.servers : scenario.job.workers,
                             read->one.is_server ? "server" : "worker");
    }
    all.push_back(*read);
  }
  return Status::Ok();
}

}  // namespace

Result<Disturbance> ParseDisturbance(std::string_view text) {
  Disturbance read;
  std::vector<std::string> keys;
  for (const std::string& word : SplitAt(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = std::min(word.find('='), word.size());
    keys.push_back(word.substr(0, equals));
    const std::string value = word.substr(std::min(equals + 1, word.size()));
    const std::string wanted = ReadWord(keys.back(), value, read);
    if (!wanted.empty()) return InvalidArgument("\"{}\": got \"{}\", wanted {}", text, word, wanted);
  }
  const std::string missing = WantedTogether(read, keys);
  if (!missing.empty()) return InvalidArgument("got \"{}\", wanted {}", text, missing);
  return read;
}

Result<std::vector<Disturbance>> DisturbancesOf(const Scenario& scenario) {
  std::vector<Disturbance> all;
  LW_RETURN_IF_ERROR(AppendPlan(scenario, "changes.plan", scenario.changes, true, all));
  LW_RETURN_IF_ERROR(AppendPlan(scenario, "faults.plan", scenario.faults.plan, false, all));
  return all;
}

std::vector<Member> MembersOf(const Disturbance& disturbance, const Scenario& scenario) {
  if (disturbance.whom == Whom::kOne) return {disturbance.one};
  std::vector<Member> members;
  if (disturbance.whom != Whom::kWorkers) {
    for (std::uint32_t i = 0; i < scenario.job.servers; ++i)
      members.push_back({.is_server = true, .index = i});
  }
  if (disturbance.whom == Whom::kServers) return members;
  const bool is_of_cards = disturbance.what == What::kLink || disturbance.what == What::kCut;
  const bool skips_partners = disturbance.whom == Whom::kAll && scenario.together && is_of_cards;
  for (std::uint32_t i = skips_partners ? scenario.job.servers : 0; i < scenario.job.workers; ++i)
    members.push_back({.is_server = false, .index = i});
  return members;
}

}  // namespace leeway::scenario
