// OpenSums: the gradients of iterations that a block has not applied yet (apply mode aggregate).
//
// In order of arrival each gradient is added to its iteration's sum at once. With reduce=ordered gradients
// are held and summed by (rank, incarnation) when the iteration closes, so that the bits do not depend on the
// order of arrival.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "block/block_events.h"
#include "block/block_state.h"
#include "block/buffer_pool.h"
#include "block/gradient.h"
#include "block/values.h"
#include "leeway/ids.h"
#include "leeway/optimizer.h"

namespace leeway {

class OpenSums {
 public:
  OpenSums(bool ordered, BufferPool& pool);

  // Adds samples * gradient, in one pass over it that also tells whether it is finite; one that is not is
  // added only with `any`, and one that is not whole never is. The gradient's buffer is written to only when
  // nobody else holds it. Nothing is added if there is no memory. REQUIRES: push.samples > 0.
  [[nodiscard]] Values::Outcome Add(Iteration iteration, const PushEvent& push, Gradient gradient, bool any);

  struct Closed {
    BufferRef sum{};                 // of samples * gradient; null: there was no memory for it
    float mean_scale = 1.0F;         // 1 / all samples
    std::uint32_t contributors = 0;  // d
    Hyper hyper{};                   // of the contributor with the most own steps, ties to the lowest rank
    bool hyper_mismatch = false;     // contributors did not agree on it
  };
  // Takes the sum of `iteration` out; nothing if nobody contributed.
  [[nodiscard]] std::optional<Closed> Close(Iteration iteration);
  [[nodiscard]] std::vector<OpenSumState> Save() const;  // by iteration
  void Load(std::span<const OpenSumState> sums);
  // Adds the sums of iterations above `into` to that of `into`.
  void MergeInto(Iteration into);
  // How later gradients are added. The order of those before stays.
  void SetOrdered(bool ordered) { ordered_ = ordered; }
  // The lowest iteration with a contribution.
  [[nodiscard]] std::optional<Iteration> First() const;

 private:
  // A contributor. One life may contribute twice, when a late push is added to an open iteration.
  using Key = std::tuple<WorkerId, Incarnation, Seq>;
  struct Weighted {
    BufferRef gradient{};
    float weight = 1.0F;
  };
  struct Sum {
    Weighted total{};              // arrival order: a lone first gradient is kept as it came, with its weight
    std::map<Key, Weighted> held;  // reduce=ordered
    std::uint64_t samples = 0;
    std::uint32_t contributors = 0;
    std::uint64_t steps = 0;  // own steps of the contributor whose hyper is taken, and which one that is
    Key chosen{};
    Hyper hyper{};
    bool hyper_mismatch = false;
    bool lost = false;  // there was no memory for a part of it: it is not applied
  };

  // These three give false or null, and change nothing, if there is no memory.
  [[nodiscard]] bool AddTo(Weighted& total, Weighted next);
  // REQUIRES: at least one.
  [[nodiscard]] BufferRef SumOf(const std::map<Key, Weighted>& held);
  // `w` times its weight, as a buffer that nobody else holds unless the weight is 1. Takes the buffer of `w`.
  [[nodiscard]] BufferRef Scaled(Weighted& w);
  static void ChooseHyper(Sum& sum, std::uint64_t steps, const Key& key, const Hyper& hyper);

  bool ordered_;
  BufferPool& pool_;
  std::map<Iteration, Sum> sums_;
};

}  // namespace leeway
