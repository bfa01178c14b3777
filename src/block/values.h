// Values: the values of a block and its optimizer state, as immutable versions.
//
// A run of the optimizer writes into spare buffers, which become the next version only if all in them is
// finite. The version before returns to the pool at once, or when the last send that holds it is done; so
// blocks of one size share one set of spares, and nobody ever sees a torn block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "block/block_state.h"
#include "block/buffer_pool.h"
#include "leeway/ids.h"
#include "leeway/optimizer.h"
#include "leeway/witness.h"

namespace leeway {

class Values {
 public:
  // Borrows the optimizer and the pool.
  Values(std::size_t elements, const Optimizer& optimizer, BufferPool& pool);

  // The values and the optimizer's state, pinned.
  void Save(BlockState& state) const;
  // REQUIRES: not initialized; buffers of elements() floats, as many as the optimizer has slots.
  void Load(const BlockState& state);

  // Takes memory for version 1 and the optimizer's state ahead. False, and nothing is taken, if there is not
  // enough. REQUIRES: not initialized.
  [[nodiscard]] bool Reserve();
  // The buffer that was reserved for version 1; null if nothing was, or it is taken.
  [[nodiscard]] const BufferRef& reserved() const { return first_; }
  // That buffer, or else one from the pool; null without memory.
  [[nodiscard]] BufferRef TakeFirst();
  // Takes the buffer over as version 1. False, and nothing has changed, if there is no memory for the
  // optimizer's state. REQUIRES: not initialized, values has elements() floats.
  [[nodiscard]] bool Initialize(BufferRef values);

  struct Run {
    std::span<const float> g;
    float g_scale = 1.0F;
    float lr_scale = 1.0F;
    Hyper hyper{};
    bool publish_nonfinite = false;
    Witness witness{};  // of g
  };
  enum class Outcome : std::uint8_t {
    kPublished,  // there is a new version
    kNonFinite,  // the result was not finite: nothing has changed
    kTorn,       // g was not whole when it had been read: nothing has changed
    kNoMemory,   // there was none for the result: nothing has changed
  };
  // Runs the optimizer. REQUIRES: initialized.
  [[nodiscard]] Outcome Step(const Run& run);

  // Makes the buffer the next version, in the place that the optimizer's constraints allow. REQUIRES:
  // initialized, elements() floats, nobody else holds it.
  void Assign(BufferRef values);
  // The next version has no values (relay). current() stays.
  void PassVersion() { ++version_; }
  // Array `slot` of the optimizer's state, which has run `steps` times. REQUIRES: initialized, slot <
  // slots(), elements() floats.
  void AssignSlot(std::size_t slot, BufferRef state, std::uint64_t steps);
  // The optimizer's state, as of version().
  [[nodiscard]] const std::vector<ConstBufferRef>& slots() const { return slots_; }
  // The version that the last run of the optimizer has made; 0 before the first.
  [[nodiscard]] Version stepped() const { return stepped_; }

  [[nodiscard]] std::size_t elements() const { return elements_; }
  [[nodiscard]] bool initialized() const { return w_ != nullptr; }
  [[nodiscard]] Version version() const { return version_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] const ConstBufferRef& current() const { return w_; }

 private:
  const std::size_t elements_;
  const Optimizer& optimizer_;
  BufferPool& pool_;
  Version version_{0};
  Version stepped_{0};
  std::uint64_t steps_ = 0;  // runs published
  BufferRef first_;
  std::vector<BufferRef> first_slots_;  // reserved
  ConstBufferRef w_;
  std::vector<ConstBufferRef> slots_;  // the optimizer's state, as of version_
};

}  // namespace leeway
