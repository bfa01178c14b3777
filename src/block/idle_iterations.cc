#include "block/idle_iterations.h"

#include <bit>
#include <utility>

namespace leeway {

std::size_t IdleIterations::IndexOf(Iteration i) const {
  return static_cast<std::size_t>(i.value() & (bits() - 1)) / 64;
}

std::uint64_t IdleIterations::BitOf(Iteration i) { return std::uint64_t{1} << (i.value() & 63); }

template <typename Visit>
void IdleIterations::VisitWords(Iteration first, Iteration end, Visit visit) const {
  while (first < end) {
    const std::int64_t low = first.value() & 63;
    const std::int64_t count = std::min<std::int64_t>(64 - low, end - first);
    const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    if (!visit(IndexOf(first), ones << low, first)) return;
    first = first + count;
  }
}

bool IdleIterations::MarkIdle(Iteration i) {
  if (i < from_ || i <= own_through_ || i - from_ >= kSpan) return false;
  Cover(i);
  Word& word = words_[IndexOf(i)];
  if (((word.idle | word.own) & BitOf(i)) != 0) return false;
  word.idle |= BitOf(i);
  ++idle_;
  return true;
}

void IdleIterations::RecordOwn(Iteration i) {
  if (i < from_) return;
  if (i - from_ >= kSpan) {
    own_through_ = std::max(own_through_, i);
    return;
  }
  Cover(i);
  Word& word = words_[IndexOf(i)];
  if ((word.idle & BitOf(i)) != 0) --idle_;
  word.idle &= ~BitOf(i);
  word.own |= BitOf(i);
}

void IdleIterations::Cover(Iteration i) {
  last_marked_ = std::max(last_marked_, i);
  if (i - from_ < bits()) return;
  std::size_t size = std::max<std::size_t>(words_.size(), 1);
  while (static_cast<std::int64_t>(size) * 64 <= i - from_) size *= 2;
  IdleIterations wider;
  wider.words_.resize(size);
  VisitWords(from_, from_ + bits(), [&](std::size_t index, std::uint64_t mask, Iteration first) {
    Word& word = wider.words_[wider.IndexOf(first)];
    word.idle |= words_[index].idle & mask;
    word.own |= words_[index].own & mask;
    return true;
  });
  words_ = std::move(wider.words_);
}

void IdleIterations::Forget(Iteration below) {
  const Iteration end = below - from_ > bits() ? from_ + bits() : below;
  VisitWords(from_, end, [&](std::size_t index, std::uint64_t mask, Iteration) {
    idle_ -= std::popcount(words_[index].idle & mask);
    words_[index].idle &= ~mask;
    words_[index].own &= ~mask;
    return true;
  });
}

std::int64_t IdleIterations::CountOwn(Iteration first, Iteration last) const {
  if (last < first) return 0;
  std::int64_t own = last - first + 1;
  if (none()) return own;
  VisitWords(std::max(first, from_), std::min(last + 1, from_ + bits()),
             [&](std::size_t index, std::uint64_t mask, Iteration) {
               own -= std::popcount(words_[index].idle & mask);
               return true;
             });
  return own;
}

Iteration IdleIterations::NthOwn(std::int64_t n) const {
  if (none()) return from_ + n;
  const Iteration end = from_ + bits();
  std::int64_t left = n;
  Iteration found = end;
  VisitWords(from_, end, [&](std::size_t index, std::uint64_t mask, Iteration first) {
    std::uint64_t own = ~words_[index].idle & mask;
    if (const std::int64_t here = std::popcount(own); left >= here) {
      left -= here;
      return true;
    }
    for (; left > 0; --left) own &= own - 1;
    found = first + (std::countr_zero(own) - (first.value() & 63));
    return false;
  });
  return found == end ? end + left : found;
}

}  // namespace leeway
