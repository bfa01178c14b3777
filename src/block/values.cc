#include "block/values.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace leeway {

Values::Values(std::size_t elements, const Optimizer& optimizer, BufferPool& pool)
    : elements_(elements), optimizer_(optimizer), pool_(pool) {}

BufferRef Values::TakeFirst() {
  return first_ != nullptr ? std::exchange(first_, nullptr) : pool_.Take(elements_, Arena::Use::kSent);
}

bool Values::Reserve() {
  BufferRef first = pool_.Take(elements_, Arena::Use::kSent);
  if (first == nullptr) return false;
  std::vector<BufferRef> slots;
  for (int i = 0; i < optimizer_.slots(); ++i) {
    slots.push_back(pool_.Take(elements_));
    if (slots.back() == nullptr) return false;
  }
  first_ = std::move(first);
  first_slots_ = std::move(slots);
  return true;
}

bool Values::Initialize(BufferRef values) {
  LW_CHECK(!initialized() && values->floats().size() == elements_, "got {} values, wanted {}",
           values->floats().size(), elements_);
  std::vector<BufferRef> slots = std::exchange(first_slots_, {});
  while (slots.size() < static_cast<std::size_t>(optimizer_.slots())) {
    slots.push_back(pool_.Take(elements_));
    if (slots.back() == nullptr) return false;
  }
  for (int i = 0; i < optimizer_.slots(); ++i) {
    std::ranges::fill(slots[static_cast<std::size_t>(i)]->floats(), optimizer_.initial(i));
  }
  optimizer_.Constrain(values->floats());
  w_ = std::move(values);
  first_ = nullptr;
  version_ = Version(1);
  slots_.assign(slots.begin(), slots.end());
  return true;
}

void Values::Save(BlockState& state) const {
  state.version = version_;
  state.steps = steps_;
  state.values = w_;
  state.slots = slots_;
}

void Values::Load(const BlockState& state) {
  LW_CHECK(!initialized());
  if (state.version == Version(0)) return;
  LW_CHECK(state.values != nullptr && state.slots.size() == static_cast<std::size_t>(optimizer_.slots()),
           "got {} slots, wanted {}", state.slots.size(), optimizer_.slots());
  version_ = state.version;
  stepped_ = version_;
  steps_ = state.steps;
  w_ = state.values;
  slots_ = state.slots;
}

Values::Outcome Values::Step(const Run& run) {
  LW_CHECK(initialized());
  BufferRef w_next = pool_.Take(elements_, Arena::Use::kSent);
  if (w_next == nullptr) return Outcome::kNoMemory;
  std::vector<BufferRef> slots_next;
  std::vector<std::span<const float>> slots_in;
  std::vector<std::span<float>> slots_out;
  for (const ConstBufferRef& slot : slots_) {
    slots_next.push_back(pool_.Take(elements_));
    if (slots_next.back() == nullptr) return Outcome::kNoMemory;
    slots_in.push_back(slot->floats());
    slots_out.push_back(slots_next.back()->floats());
  }
  const bool finite = optimizer_.Step({.w = w_->floats(),
                                       .g = run.g,
                                       .g_scale = run.g_scale,
                                       .lr_scale = run.lr_scale,
                                       .step = steps_ + 1,
                                       .hyper = run.hyper,
                                       .slots = slots_in},
                                      {.w = w_next->floats(), .slots = slots_out});
  if (!run.witness.Holds()) return Outcome::kTorn;
  if (!finite && !run.publish_nonfinite) return Outcome::kNonFinite;
  w_ = std::move(w_next);
  slots_.assign(slots_next.begin(), slots_next.end());
  ++version_;
  ++steps_;
  stepped_ = version_;
  return Outcome::kPublished;
}

void Values::Assign(BufferRef values) {
  LW_CHECK(initialized() && values->floats().size() == elements_);
  optimizer_.Constrain(values->floats());
  w_ = std::move(values);
  ++version_;
}

void Values::AssignSlot(std::size_t slot, BufferRef state, std::uint64_t steps) {
  LW_CHECK(initialized() && slot < slots_.size() && state->floats().size() == elements_);
  slots_[slot] = std::move(state);
  steps_ = steps;
}

}  // namespace leeway
