// GoneNotices: when shards and workers hear of members that left or died. While many go, they hear of several
// together; of the last one they hear at once.
//
// A roster is as long as the job has members, and goes to each of them. With one roster for each leaver, a
// job of a thousand would end with a thousand million entries.
//
// Thread rule: that of Timers. May go before its Timers.
#pragma once

#include <cstdint>
#include <functional>

#include "leeway/env.h"
#include "wire/control.pb.h"

namespace leeway {

class GoneNotices {
 public:
  // Borrows timers. `send` sends the roster to all members of this role.
  GoneNotices(Timers& timers, std::uint32_t workers, std::function<void(wire::pb::Role)> send);
  ~GoneNotices();
  GoneNotices(const GoneNotices&) = delete;
  GoneNotices& operator=(const GoneNotices&) = delete;

  // A member has left or died; `last`: no live member remains.
  void OnGone(bool last);
  // All members of the role have a roster as of now.
  void OnTold(wire::pb::Role role);
  // Some leavers are in no roster that the shards have.
  [[nodiscard]] bool shards_untold() const { return shards_.untold; }
  // The job is over: nobody hears of leavers any more.
  void Stop();

 private:
  struct Notice {
    wire::pb::Role role;
    bool first_at_once;
    Duration pause;  // after the first that is not told, or after one that is
    TimerId timer = {};
    bool untold = false;
  };
  void Note(Notice& notice, bool last);

  Timers& timers_;
  const std::function<void(wire::pb::Role)> send_;
  Notice shards_, workers_;
};

}  // namespace leeway
