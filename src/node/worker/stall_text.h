// StallText: why a worker has waited for so long, for people: the condition, the workers that it waits for,
// how these are, and what to do.
#pragma once

#include <optional>
#include <string>

#include "leeway/ids.h"
#include "node/worker/wait.h"
#include "wire/control.pb.h"

namespace leeway {

// The facts that were found out. Ages are in seconds.
struct StallFacts {
  WorkerId self{};
  bool alone = false;  // no other worker is a member
  Wait wait{};         // its block is not looked at

  std::string sync;   // of the block's table
  std::string shard;  // that the wait is on: "server 1 shard 0"; empty: on none
  bool shard_up = false;
  std::optional<wire::pb::WhyReply> of_shard;  // nothing: it was not asked, or did not answer in time

  bool scheduler_up = false;
  double scheduler_age_s = 0;                      // of its last message
  std::optional<wire::pb::WhyReply> of_scheduler;  // as above

  double give_up_after_s = 0;  // of a connection that is lost
};

// Whether members of the job are waited for: they come by, or the scheduler gives them up. Else it is a
// server, the scheduler or a file.
[[nodiscard]] bool IsForMembers(const StallFacts& facts);

// One line per fact, each but the first after a line break and two spaces.
[[nodiscard]] std::string StallText(const StallFacts& facts);

}  // namespace leeway
