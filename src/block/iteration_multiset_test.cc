#include "block/iteration_multiset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"

namespace leeway {
namespace {

// `members` at most, which begin in iterations below `range`.
void ExpectAgreesWithCountingOneByOne(std::size_t members, std::uint64_t range) {
  std::vector<std::int64_t> plain;
  IterationMultiset set;
  std::uint64_t random = 1;
  const auto draw = [&](std::uint64_t n) { return static_cast<std::int64_t>((random = Mix64(random)) % n); };
  for (int round = 0; round < 6000; ++round) {
    const std::int64_t what = plain.empty() ? 0 : draw(10);
    if ((what <= 1 || plain.size() < members / 2) && plain.size() < members) {
      plain.push_back(draw(range));
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
    const std::int64_t i = draw(2 * range);
    ASSERT_EQ(set.CountFrom(Iteration(i)), std::ranges::count_if(plain, [&](auto p) { return p >= i; }));
    ASSERT_EQ(set.CountUpTo(Iteration(i)), std::ranges::count_if(plain, [&](auto p) { return p <= i; }));
    std::optional<Iteration> next;
    for (const auto p : plain) {
      if (p >= i && (!next || Iteration(p) < *next)) next = Iteration(p);
    }
    ASSERT_EQ(set.NextFrom(Iteration(i)), next);
    if (round % 100 == 0) {
      std::vector<std::int64_t> sorted = plain, listed;
      std::ranges::sort(sorted);
      for (const Iteration at : set.Sorted()) listed.push_back(at.value());
      ASSERT_EQ(listed, sorted);
    }
    if (!plain.empty()) {
      ASSERT_EQ(set.lowest().value(), *std::ranges::min_element(plain));
      ASSERT_EQ(set.highest().value(), *std::ranges::max_element(plain));
    }
  }
  while (!plain.empty()) {
    set.Remove(Iteration(plain.back()));
    plain.pop_back();
    ASSERT_EQ(set.size(), plain.size());
  }
  EXPECT_TRUE(set.empty());
}

TEST(IterationMultisetTest, AgreesWithCountingOneByOne) {
  ExpectAgreesWithCountingOneByOne(1, 3);
  ExpectAgreesWithCountingOneByOne(3, 2);
  ExpectAgreesWithCountingOneByOne(6, 4);
  ExpectAgreesWithCountingOneByOne(40, 30);
  ExpectAgreesWithCountingOneByOne(300, 200);
  ExpectAgreesWithCountingOneByOne(300, 1'000'000);
}

}  // namespace
}  // namespace leeway
