// The ids and counters of Leeway. Each is a type of its own, so that the compiler rejects a worker where a
// block is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <string>

namespace leeway {

// A strong integer. Ids compare and hash. With kCounts they also add and subtract plain numbers, and give the
// difference of two.
template <typename Tag, typename Rep, bool kCounts = false>
class StrongInt {
 public:
  using rep = Rep;
  constexpr StrongInt() = default;
  constexpr explicit StrongInt(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  // The value as an index into a vector of dense ids.
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }

  friend constexpr auto operator<=>(StrongInt, StrongInt) = default;
  // GoogleTest prints an id with this; without it a failure would show the bytes of the object.
  friend void PrintTo(StrongInt id, std::ostream* out) { *out << id.value_; }

  constexpr StrongInt& operator++() requires kCounts {
    ++value_;
    return *this;
  }
  constexpr StrongInt& operator--() requires kCounts {
    --value_;
    return *this;
  }
  friend constexpr StrongInt operator+(StrongInt a, Rep n) requires kCounts {
    return StrongInt(static_cast<Rep>(a.value_ + n));
  }
  friend constexpr StrongInt operator-(StrongInt a, Rep n) requires kCounts {
    return StrongInt(static_cast<Rep>(a.value_ - n));
  }
  friend constexpr Rep operator-(StrongInt a, StrongInt b) requires kCounts {
    return static_cast<Rep>(a.value_ - b.value_);
  }

 private:
  Rep value_{};
};

using WorkerId = StrongInt<struct WorkerTag, std::uint32_t>;  // the rank of a worker, dense from 0
using ServerId = StrongInt<struct ServerTag, std::uint32_t>;  // one server process, dense from 0
using ShardId = StrongInt<struct ShardTag, std::uint32_t>;    // one shard of one server, dense over the job
using TableId = StrongInt<struct TableTag, std::uint32_t>;    // dense over the job
using BlockId = StrongInt<struct BlockTag, std::uint32_t>;    // dense over the job
using Incarnation = StrongInt<struct IncarnationTag, std::uint32_t, true>;  // lives of one worker, from 1
using Epoch = StrongInt<struct EpochTag, std::uint64_t, true>;  // version of membership and placement, from 1
using Term = StrongInt<struct TermTag, std::uint32_t, true>;    // version of one block's ownership, from 1
using Seq =
    StrongInt<struct SeqTag, std::uint64_t, true>;  // dense per (worker life, block), from 1; 0: no push
using Version = StrongInt<struct VersionTag, std::uint64_t,
                          true>;  // changes of a block's values; 0: no version, 1: the initial values
using Ask = StrongInt<struct AskTag, std::uint32_t, true>;  // pulls of one block by one worker life, from 1
using View = StrongInt<struct ViewTag, std::uint64_t>;      // a published encoding of a block; 0: none
using Iteration = StrongInt<struct IterationTag, std::int64_t, true>;  // from 0; -1 is before the first

inline constexpr Iteration kIterationMax{std::numeric_limits<std::int64_t>::max()};
inline constexpr WorkerId kNoWorker{std::numeric_limits<std::uint32_t>::max()};
inline constexpr ShardId kNoShard{std::numeric_limits<std::uint32_t>::max()};

}  // namespace leeway

template <typename Tag, typename Rep, bool kCounts>
struct std::hash<leeway::StrongInt<Tag, Rep, kCounts>> {
  std::size_t operator()(leeway::StrongInt<Tag, Rep, kCounts> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
