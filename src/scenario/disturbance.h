// Disturbance: something that slows, cuts off or ends machines of a simulated job, as a scenario writes it:
//
//   at=20 for=30 link=server.1 slower=10      from 20 s to 50 s the card of server 1 has a tenth of its rate
//   every=60 for=5 work=workers slower=3      each worker is slow now and then, at random
//   at=30 for=10 cut=worker.2                 nothing passes the card of worker 2 from 30 s to 40 s
//   at=30 for=15 kill=server.0                the process dies, and another one starts 15 s later
//
// Words in any order. Pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"
#include "scenario/scenario.h"

namespace leeway::scenario {

// One worker or one server.
struct Member {
  bool is_server = false;
  std::uint32_t index = 0;
  friend auto operator<=>(const Member&, const Member&) = default;
};

struct Disturbance {
  enum class What : std::uint8_t { kLink, kWork, kCut, kKill };
  enum class Whom : std::uint8_t { kOne, kWorkers, kServers, kAll };
  What what = What::kLink;
  Whom whom = Whom::kAll;
  Member one;                   // with kOne
  bool is_random = false;       // each member has its own times
  double seconds = 0;           // when it begins, or the mean time until it begins, and begins again
  std::optional<double> for_s;  // how long it lasts, or lasts on average; nullopt: to the end of the run
  double slower = 1;            // with kLink and kWork: so many times
};

// An error names the text, what it got and what it wanted.
[[nodiscard]] Result<Disturbance> ParseDisturbance(std::string_view text);

// All of changes.plan and faults.plan. An error names key and text, also for a member that the scenario
// lacks.
[[nodiscard]] Result<std::vector<Disturbance>> DisturbancesOf(const Scenario& scenario);

// The members that a disturbance befalls. Of a worker and a server with one card, cuts and slow links name
// the server alone, unless the disturbance names the worker.
[[nodiscard]] std::vector<Member> MembersOf(const Disturbance& disturbance, const Scenario& scenario);

}  // namespace leeway::scenario
