#include "node/worker/pair_landing.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace leeway {
namespace {

constexpr Iteration kNever{std::numeric_limits<std::int64_t>::min()};
// Versions that no block has: those of an owner that is gone.
constexpr Version kForgotten{std::numeric_limits<std::uint64_t>::max()};
constexpr Version kForgottenToo = kForgotten - 1, kForgottenStaged = kForgotten - 2;

}  // namespace

PairLanding::PairLanding(ParameterPair& pair, BufferPool& pool)
    : pair_(pair), pool_(pool), published_(kNever) {}

void PairLanding::AddBlock(std::size_t offset, std::size_t elements) {
  Slot slot;
  slot.offset = offset;
  slot.elements = elements;
  slot.arrived = kNever;
  slot.v_train_in[0] = slot.v_train_in[1] = slot.staged_v_train = kNever;
  blocks_.push_back(std::move(slot));
  ++lagging_;
}

Version PairLanding::Held(std::size_t block) const {
  const Slot& slot = blocks_[block];
  switch (slot.newest) {
    case Where::kBack:
      return slot.in_buffer[BackIndex()];
    case Where::kStaged:
      return slot.staged_version;
    case Where::kPublished:
      break;
  }
  return slot.in_buffer[newest_index_];
}

Version PairLanding::InUse(std::size_t block) const {
  const Version held = blocks_[block].in_buffer[static_cast<std::size_t>(pair_.front_index())];
  return held < kForgottenStaged ? held : Version(0);
}

Iteration PairLanding::HeldVTrain(std::size_t block) const {
  const Slot& slot = blocks_[block];
  switch (slot.newest) {
    case Where::kBack:
      return slot.v_train_in[BackIndex()];
    case Where::kStaged:
      return slot.staged_v_train;
    case Where::kPublished:
      break;
  }
  return slot.v_train_in[newest_index_];
}

Iteration PairLanding::InUseVTrain(std::size_t block) const {
  return blocks_[block].v_train_in[static_cast<std::size_t>(pair_.front_index())];
}

void PairLanding::Stamp(std::size_t block, Iteration v_train) {
  Slot& slot = blocks_[block];
  if (slot.newest == Where::kStaged) {
    slot.staged_v_train = v_train;
    return;
  }
  const std::size_t at = slot.newest == Where::kBack ? BackIndex() : newest_index_;
  slot.v_train_in[at] = v_train;
  if (slot.in_buffer[0] == slot.in_buffer[1]) slot.v_train_in[1 - at] = v_train;
}

void PairLanding::Forget(std::size_t block) {
  Slot& slot = blocks_[block];
  // Whether both buffers hold the same stays known: it spares a copy, or asks for one.
  const bool same = slot.in_buffer[0] == slot.in_buffer[1];
  slot.in_buffer[0] = kForgotten;
  slot.in_buffer[1] = same ? kForgotten : kForgottenToo;
  slot.staged_version = kForgottenStaged;
  slot.v_train_in[0] = slot.v_train_in[1] = slot.staged_v_train = kNever;
}

PairLanding::Place PairLanding::Begin(std::size_t block) {
  Slot& slot = blocks_[block];
  if (aside_ || !pair_.BackIsFree()) {
    BufferRef staged = pool_.Take(slot.elements);
    return {staged->floats(), staged};
  }
  if (slot.arrived > published_) ++lagging_;
  slot.arrived = std::min(slot.arrived, published_);
  if (slot.newest == Where::kStaged) slot.staged = nullptr;
  slot.newest = Where::kPublished;
  slot.in_buffer[BackIndex()] = Version(0);
  return {pair_.Back().subspan(slot.offset, slot.elements), nullptr};
}

void PairLanding::Arrived(std::size_t block, Iteration progress, Version version, BufferRef staged) {
  Slot& slot = blocks_[block];
  if (staged != nullptr) {
    slot.newest = Where::kStaged;
    slot.staged = std::move(staged);
    slot.staged_version = version;
    slot.staged_none = false;
  } else {
    // The back has been free since Begin: only the node ends that, and not while a block lands in it.
    LW_CHECK(pair_.BackIsFree(), "block {} landed in a buffer that was published meanwhile", block);
    if (slot.newest == Where::kStaged) slot.staged = nullptr;
    slot.newest = Where::kBack;
    slot.in_buffer[BackIndex()] = version;
    slot.none_in[BackIndex()] = false;
  }
  SetArrived(slot, progress);
}

void PairLanding::ArrivedWithout(std::size_t block, Iteration progress, Version version) {
  Place place = Begin(block);
  std::ranges::fill(place.values, 0.0F);
  Slot& slot = blocks_[block];
  bool& none = place.staged != nullptr ? slot.staged_none : slot.none_in[BackIndex()];
  Arrived(block, progress, version, std::move(place.staged));
  none = true;
}

bool PairLanding::Unchanged(std::size_t block, Iteration progress, Version version) {
  // Version 0: the block never had values and nobody is left to give it some. There is nothing to hold.
  if (version != Version(0) && Held(block) != version) return false;
  SetArrived(blocks_[block], progress);
  return true;
}

bool PairLanding::PublishIfWhole(Iteration needed) {
  if (lagging_ > 0) return false;
  Iteration progress = kIterationMax;
  for (const Slot& slot : blocks_) progress = std::min(progress, slot.arrived);
  if (progress < needed) return false;
  Show(progress);
  return true;
}

void PairLanding::PublishPartly(Iteration needed) {
  LW_CHECK(aside_, "an answer may be landing in the buffer that is to be shown");
  if (needed > published_) Show(needed);
}

void PairLanding::Show(Iteration progress) {
  const bool changed = std::any_of(blocks_.begin(), blocks_.end(),
                                   [](const Slot& slot) { return slot.newest != Where::kPublished; });
  if (changed) {
    // Either the back is free, or it holds a whole version that the user has not taken: then it is taken back
    // to be brought up to date. If the user is quicker, it is free after all.
    const bool holds = !pair_.BackIsFree() && pair_.Hold();
    const std::uint8_t back = BackIndex();
    for (Slot& slot : blocks_) {
      if (slot.newest == Where::kPublished && holds) continue;  // the back has it already
      Fill(slot, back);
    }
    newest_index_ = back;
    pair_.SetBackEmpty(std::ranges::all_of(blocks_, [back](const Slot& slot) { return slot.none_in[back]; }));
    pair_.Publish(progress);
  } else {
    pair_.Extend(progress);
  }
  published_ = progress;
  lagging_ = static_cast<std::uint32_t>(std::count_if(
      blocks_.begin(), blocks_.end(), [this](const Slot& slot) { return slot.arrived <= published_; }));
}

void PairLanding::Fill(Slot& slot, std::uint8_t back) {
  const std::span<float> to = pair_.Back().subspan(slot.offset, slot.elements);
  if (slot.newest == Where::kStaged) {
    std::copy_n(slot.staged->floats().data(), slot.elements, to.data());
    slot.in_buffer[back] = slot.staged_version;
    slot.v_train_in[back] = slot.staged_v_train;
    slot.none_in[back] = slot.staged_none;
    slot.staged = nullptr;
  } else if (slot.newest == Where::kPublished && slot.in_buffer[back] != slot.in_buffer[1 - back]) {
    std::copy_n(pair_.Front().data() + slot.offset, slot.elements, to.data());
    slot.in_buffer[back] = slot.in_buffer[1 - back];
    slot.v_train_in[back] = slot.v_train_in[1 - back];
    slot.none_in[back] = slot.none_in[1 - back];
  }
  slot.newest = Where::kPublished;
}

void PairLanding::SetArrived(Slot& slot, Iteration progress) {
  if (slot.arrived <= published_ && progress > published_) --lagging_;
  slot.arrived = std::max(slot.arrived, progress);
}

}  // namespace leeway
