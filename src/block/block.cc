#include "block/block.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutation.h"
#include "block/block_core.h"
#include "optimizer/kernels.h"

namespace leeway {

void Block::Core::OnInit(MemberKey from, Term term, Gradient values, TimePoint now) {
  if (term != options_.term) {
    ++counters_.moved;
    Say(from, Seq(0), BlockVerdict::kMoved);
    return;
  }
  const auto refuse = [&] {
    ++counters_.refused;
    Say(from, Seq(0), BlockVerdict::kRefused);
  };
  const auto starve = [&] {
    ++counters_.no_memory;
    refuse();
  };
  if (values.values().size() != options_.elements) return refuse();
  if (!values_.initialized()) {
    BufferRef own = values.TakeBuffer();
    bool finite = true;
    if (own == nullptr) {
      own = values_.TakeFirst();
      if (own == nullptr) return starve();
      finite = kernels::ScaleInto(own->floats(), values.values(), 1.0F);
      if (!values.Whole()) return;
    } else {
      finite = kernels::AllFinite(values.values());
    }
    // One value that is not finite would make every later one so.
    if (!finite && options_.nonfinite == NonFinite::kRefuse) return refuse();
    if (!values_.Initialize(std::move(own))) return starve();
  }
  Say(from, Seq(0), BlockVerdict::kInitialized);
  ReleaseBlocked(now);
}

void Block::Core::OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now) {
  if (epoch < epoch_) return;
  if (epoch_ == Epoch(0)) advanced_at_ = now;  // the block comes to be
  epoch_ = epoch;
  const std::uint32_t members_before = progress_.StepMembersAt(progress_.v_train());
  const std::vector<MemberKey> ended = progress_.SetMembers(members);
  if (!KeepsOrder()) idle_.Clear();
  for (const MemberState& member : members) ledger_.Admit(member.key);
  for (const MemberKey life : ended) {
    notes_.Drop(life);
    kept_.Forget(life.worker);
  }
  if (!LW_MUTATED(dead_not_recounted)) AdvanceWhilePossible(now);
  // What came late to an iteration that nobody else will send has no advance to wait for.
  if (!progress_.any_live()) FoldAll(members_before);
  for (const MemberKey life : ended) {
    const std::optional<WaitingPull> waiting = pulls_.Take(life);
    if (waiting && progress_.StandingOf(life) == Progress::Standing::kGone) AnswerOrWait(waiting->pull, now);
  }
  Release(ended.empty() ? progress_.LastSlowest() : ended.front().worker, now);
  ReleaseBlocked(now);
}

void Block::Core::OnTimer(TimePoint now) {
  wake_at_.reset();
  AdvanceWhilePossible(now);
  Release(progress_.LastSlowest(), now);
}

void Block::Core::OnDisconnected(MemberKey who) {
  (void)pulls_.Take(who);
  notes_.Drop(who);
}

BlockState Block::Core::Save() const {
  BlockState state;
  values_.Save(state);
  state.progress = progress_.Save();
  if (!LW_MUTATED(ledger_not_saved)) state.ledger = ledger_.Save();
  state.sums = sums_.Save();
  state.memory = memory_;
  return state;
}

void Block::Core::Load(const BlockState& state) {
  LW_CHECK(epoch_ == Epoch(0) && !values_.initialized(), "block {} is in use", options_.id.value());
  values_.Load(state);
  progress_.Load(state.progress);
  idle_.AdvanceTo(progress_.v_train());
  ledger_.Load(state.ledger);
  sums_.Load(state.sums);
  memory_ = state.memory;
}

Block::Block(const BlockOptions& options, const SyncPolicy& sync, const Optimizer& optimizer,
             BufferPool& pool, BlockEvents& events)
    : core_(std::make_unique<Core>(options, sync, optimizer, pool, events)) {}
Block::~Block() = default;

void Block::OnInit(MemberKey from, Term term, Gradient values, TimePoint now) {
  core_->OnInit(from, term, std::move(values), now);
}
bool Block::Reserve() { return core_->values().Reserve(); }
const BufferRef& Block::reserved() const { return core_->values().reserved(); }
BufferRef Block::TakeFirst() { return core_->values().TakeFirst(); }
void Block::OnPush(const PushEvent& push, Gradient gradient, TimePoint now) {
  core_->OnPush(push, std::move(gradient), now);
}
void Block::OnAssign(const AssignEvent& assign, Gradient array) { core_->OnAssign(assign, std::move(array)); }
void Block::OnAbsent(const AbsentEvent& absent, TimePoint now) { core_->OnAbsent(absent, now); }
void Block::OnPull(const PullEvent& pull, TimePoint now) { core_->OnPull(pull, now); }
void Block::OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now) {
  core_->OnMembers(epoch, members, now);
}
void Block::OnTimer(TimePoint now) { core_->OnTimer(now); }
void Block::Switch(const SyncPolicy& sync, const ApplyMode& apply, std::uint64_t coin_seed, TimePoint now) {
  core_->Switch(sync, apply, coin_seed, now);
}
void Block::OnDisconnected(MemberKey who) { core_->OnDisconnected(who); }

BlockState Block::Save() const { return core_->Save(); }
BlockArrays Block::Arrays() const {
  const Values& now = std::as_const(*core_).values();
  return {.version = now.version(), .steps = now.steps(), .values = now.current(), .slots = now.slots()};
}
void Block::Load(const BlockState& state) { core_->Load(state); }
void Block::NotifyAt(Iteration iteration) { core_->NotifyAt(iteration); }

Term Block::term() const { return core_->options().term; }
BlockId Block::id() const { return core_->options().id; }
TableId Block::table() const { return core_->options().table; }
std::uint64_t Block::offset() const { return core_->options().offset; }
bool Block::aggregates() const { return core_->options().apply.kind == ApplyMode::Kind::kAggregate; }
std::size_t Block::elements() const { return core_->options().elements; }
Iteration Block::v_train() const { return core_->progress().v_train(); }
Version Block::version() const { return core_->values().version(); }
bool Block::initialized() const { return core_->values().initialized(); }
std::span<const float> Block::values() const {
  if (!initialized()) return {};
  return core_->values().current()->floats();
}
const BlockCounters& Block::counters() const { return core_->counters(); }
const SyncPolicy& Block::sync() const { return core_->sync(); }
const ProgressView& Block::progress() const { return core_->progress(); }
std::size_t Block::waiting() const { return core_->waiting(); }
std::string Block::WhyWaiting() const { return core_->WhyWaiting(); }
Iteration Block::FirstOf(WorkerId worker) const { return core_->progress().FirstOf(worker); }
std::optional<HeldLife> Block::HeldOf(MemberKey life) const { return core_->progress().HeldOf(life); }
bool Block::HasMember(MemberKey life) const {
  return core_->progress().StandingOf(life) == Progress::Standing::kMember;
}
bool Block::IsDelayed(WorkerId worker) const { return core_->IsDelayed(worker); }
bool Block::IsTimed() const { return core_->IsTimed(); }
std::vector<WorkerId> Block::Missing() const { return core_->progress().Missing(); }

}  // namespace leeway
