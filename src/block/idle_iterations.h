// IdleIterations: the iterations in which other optimizers step, as a block or a worker knows them.
//
// An iteration is idle when a member has marked it so and nobody has sent a gradient or a plain absence for
// it; every other iteration is an own one. An own mark wins over an idle one, in either order.
//
// Marks are hints. A reader that has forgotten them waits for idle iterations as for its own ones, so they
// are in no checkpoint and do not move with a block.
//
// The record covers kSpan iterations, and those beyond are own. It allocates nothing before the first idle
// mark. Thread rule: the owner's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "leeway/ids.h"

namespace leeway {

class IdleIterations {
 public:
  static constexpr std::int64_t kSpan = 65'536;

  // Whether no iteration of the record is idle: all of the questions below then have plain answers.
  [[nodiscard]] bool none() const { return idle_ == 0; }
  [[nodiscard]] Iteration from() const { return from_; }

  // Returns true if the iteration was an own one before.
  bool MarkIdle(Iteration i);
  void MarkOwn(Iteration i) {
    if (words_.empty()) {
      own_through_ = std::max(own_through_, i);
    } else {
      RecordOwn(i);
    }
  }
  // Forgets all marks. No iteration that was marked becomes idle again.
  void Clear() {
    if (words_.empty()) return;
    own_through_ = std::max(own_through_, last_marked_);
    words_.clear();
    idle_ = 0;
  }
  // Forgets the iterations below i. REQUIRES: i >= from().
  void AdvanceTo(Iteration i) {
    if (!words_.empty()) Forget(i);
    from_ = i;
  }

  // How many own iterations are in [first, last]. Iterations below from() count as own.
  [[nodiscard]] std::int64_t CountOwn(Iteration first, Iteration last) const;
  // The n-th own iteration from from() on; 0 asks for the first.
  [[nodiscard]] Iteration NthOwn(std::int64_t n) const;
  // `progress` in own iterations: it stays as it is below from(), and one above that counts own ones only.
  [[nodiscard]] Iteration Counted(Iteration progress) const {
    return none() || progress < from_ ? progress : from_ - 1 + CountOwn(from_, progress);
  }

 private:
  // The marks of 64 iterations. At most one of the two bits of an iteration is set.
  struct Word {
    std::uint64_t idle = 0, own = 0;
  };

  [[nodiscard]] std::int64_t bits() const { return static_cast<std::int64_t>(words_.size()) * 64; }
  [[nodiscard]] std::size_t IndexOf(Iteration i) const;
  [[nodiscard]] static std::uint64_t BitOf(Iteration i);
  // Calls visit(word index, mask of its bits, first iteration of them) for the parts of [first, end), which
  // lies within the record, until it returns false.
  template <typename Visit>
  void VisitWords(Iteration first, Iteration end, Visit visit) const;
  // Makes room for the marks of i. REQUIRES: from() <= i < from() + kSpan.
  void Cover(Iteration i);
  void RecordOwn(Iteration i);
  void Forget(Iteration below);

  // A ring of a power of two of bits: iteration i has bit i % bits(), and only [from_, from_ + bits()) has
  // marks.
  std::vector<Word> words_;
  Iteration from_{0};
  // No iteration up to here is marked idle any more. It stands for the own marks of the time when the ring
  // was empty, and for those beyond kSpan.
  Iteration own_through_{-1};
  Iteration last_marked_{-1};  // the highest one in the ring
  std::int64_t idle_ = 0;      // idle marks in the ring
};

}  // namespace leeway
