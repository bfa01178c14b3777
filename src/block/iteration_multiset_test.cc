#include "block/iteration_multiset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"

namespace leeway {
namespace {

TEST(IterationMultisetTest, AgreesWithCountingOneByOne) {
  std::vector<std::int64_t> plain;
  IterationMultiset set;
  std::uint64_t random = 1;
  const auto draw = [&](std::uint64_t n) { return static_cast<std::int64_t>((random = Mix64(random)) % n); };
  for (int round = 0; round < 3000; ++round) {
    const std::int64_t what = plain.empty() ? 0 : draw(10);
    if (what <= 1 && plain.size() < 40) {
      plain.push_back(draw(30));
      set.Add(Iteration(plain.back()));
    } else if (what == 2) {
      const auto at = plain.begin() + draw(plain.size());
      set.Remove(Iteration(*at));
      plain.erase(at);
    } else {
      const auto at = plain.begin() + draw(plain.size());
      const std::int64_t to = *at + draw(4) * draw(4);
      set.Raise(Iteration(*at), Iteration(to));
      *at = to;
    }
    ASSERT_EQ(set.size(), plain.size());
    const std::int64_t i = draw(60);
    ASSERT_EQ(set.CountFrom(Iteration(i)), std::ranges::count_if(plain, [&](auto p) { return p >= i; }));
    ASSERT_EQ(set.CountUpTo(Iteration(i)), std::ranges::count_if(plain, [&](auto p) { return p <= i; }));
    std::optional<Iteration> next;
    for (const auto p : plain) {
      if (p >= i && (!next || Iteration(p) < *next)) next = Iteration(p);
    }
    ASSERT_EQ(set.NextFrom(Iteration(i)), next);
    if (!plain.empty()) {
      ASSERT_EQ(set.lowest().value(), *std::ranges::min_element(plain));
      ASSERT_EQ(set.highest().value(), *std::ranges::max_element(plain));
    }
  }
}

}  // namespace
}  // namespace leeway
