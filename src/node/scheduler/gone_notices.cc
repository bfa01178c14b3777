#include "node/scheduler/gone_notices.h"

#include <algorithm>
#include <utility>

namespace leeway {
namespace {

// A shard lets the others go on when it hears; a worker has to know at the end, and before that only names
// those that it waits for.
Duration ShardsPause(std::int64_t workers) { return std::chrono::microseconds(250) * workers; }
Duration WorkersPause(std::int64_t workers) {
  constexpr std::int64_t kMany = 316;  // from here on 10 s
  const std::int64_t n = std::min(workers, kMany);
  return std::chrono::microseconds(100) * n * n;
}

}  // namespace

GoneNotices::GoneNotices(Timers& timers, std::uint32_t workers, std::function<void(wire::pb::Role)> send)
    : timers_(timers),
      send_(std::move(send)),
      shards_{wire::pb::ROLE_SERVER, true, ShardsPause(workers)},
      workers_{wire::pb::ROLE_WORKER, false, WorkersPause(workers)} {}

GoneNotices::~GoneNotices() { Stop(); }

void GoneNotices::Stop() {
  for (Notice* notice : {&shards_, &workers_}) timers_.Cancel(std::exchange(notice->timer, {}));
}

void GoneNotices::OnGone(bool last) {
  Note(shards_, last);
  Note(workers_, last);
}

void GoneNotices::Note(Notice& notice, bool last) {
  notice.untold = true;
  const bool is_first = notice.timer == TimerId{};
  if (last || (is_first && notice.first_at_once)) send_(notice.role);
  if (!is_first) return;
  notice.timer = timers_.After(notice.pause, [this, &notice] {
    notice.timer = {};
    if (notice.untold) send_(notice.role);
  });
}

void GoneNotices::OnTold(wire::pb::Role role) {
  (role == wire::pb::ROLE_SERVER ? shards_ : workers_).untold = false;
}

}  // namespace leeway
