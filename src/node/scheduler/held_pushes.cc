#include "node/scheduler/held_pushes.h"

#include <algorithm>

namespace leeway {
namespace {

void AddTo(wire::pb::HeldBlocks& sum, const wire::pb::HeldBlocks& more) {
  sum.set_blocks(sum.blocks() + more.blocks());
  sum.set_sum(static_cast<std::int64_t>(static_cast<std::uint64_t>(sum.sum()) +
                                        static_cast<std::uint64_t>(more.sum())));
  sum.set_silent(sum.silent() + more.silent());
}

// Unsigned: numbers of a peer may overflow, and must do no harm then.
std::uint64_t Missing(const wire::pb::HeldBlocks& of, std::int64_t first, std::int64_t top) {
  const auto end = static_cast<std::uint64_t>(top) + 1;
  const std::uint64_t pushed = top < first ? 0 : end - static_cast<std::uint64_t>(first);
  const std::uint64_t all = of.blocks() * static_cast<std::uint64_t>(top);
  const auto held = static_cast<std::uint64_t>(of.sum());
  return (all > held ? all - held : 0) + of.silent() * pushed;
}

}  // namespace

void HeldPushes::Add(const wire::pb::Held& held) {
  const MemberKey life{WorkerId(held.worker()), Incarnation(held.incarnation())};
  std::optional<TableId> own_clock;
  if (held.own_clock()) own_clock = TableId(held.table());
  const auto [entry, is_new] = held_.try_emplace({life, own_clock}, held);
  if (is_new) return;
  wire::pb::Held& sum = entry->second;
  sum.set_highest(std::max(sum.highest(), held.highest()));
  AddTo(*sum.mutable_whole(), held.whole());
  AddTo(*sum.mutable_patched(), held.patched());
}

std::set<MemberKey> HeldPushes::Lives() const {
  std::set<MemberKey> lives;
  for (const auto& [clock, held] : held_) lives.insert(std::get<MemberKey>(clock));
  return lives;
}

Iteration HeldPushes::Highest(MemberKey life) const {
  const auto found = held_.find({life, std::nullopt});
  return found == held_.end() ? Iteration(-1) : Iteration(found->second.highest());
}

std::uint64_t HeldPushes::BlocksOf(MemberKey life) const {
  const auto found = held_.find({life, std::nullopt});
  if (found == held_.end()) return 0;
  const wire::pb::Held& held = found->second;
  return held.whole().blocks() + held.whole().silent() + held.patched().blocks() + held.patched().silent();
}

HeldPushes::Lacking HeldPushes::Of(MemberKey life, Iteration first, Iteration top) const {
  Lacking lacking;
  for (auto at = held_.lower_bound({life, std::nullopt}); at != held_.end(); ++at) {
    const auto& [whose, own_clock] = at->first;
    if (whose != life) break;
    const wire::pb::Held& held = at->second;
    const std::int64_t begun = own_clock ? held.highest() + 1 : first.value();
    const std::int64_t ended = own_clock ? held.highest() : top.value();
    lacking.lost += Missing(held.patched(), begun, ended);
    lacking.torn += Missing(held.whole(), begun, ended);
  }
  return lacking;
}

}  // namespace leeway
