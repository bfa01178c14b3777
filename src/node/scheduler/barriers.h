// Barriers: workers wait until every member of the job has called with the same name. Each name may be used
// again; a worker counts its own calls of a name as rounds, from 1.
//
// A member that leaves or dies is waited for no more. A repeated call (after a reconnect) changes nothing,
// and one for a round that is over is released at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "leeway/ids.h"
#include "leeway/status.h"

namespace leeway {

class Barriers {
 public:
  static constexpr std::size_t kNamesMax = 65'536;
  static constexpr std::size_t kNameBytesMax = 256;

  struct Release {
    WorkerId worker;
    std::string name;
    std::uint64_t round = 0;
  };

  // A live member arrives. Call Released then.
  [[nodiscard]] Status Arrive(WorkerId worker, const std::string& name, std::uint64_t round);
  // Who may go on, now that `live` are the members.
  [[nodiscard]] std::vector<Release> Released(std::span<const WorkerId> live);

 private:
  struct Barrier {
    std::uint64_t over = 0;                               // rounds up to this one are over
    std::map<std::uint64_t, std::set<WorkerId>> arrived;  // by round
  };
  std::map<std::string, Barrier> barriers_;
};

}  // namespace leeway
