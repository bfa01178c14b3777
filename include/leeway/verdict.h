// Verdict: what became of one push, absent push or assign, as the block says it and as the wire carries it.
#pragma once

#include <cstdint>

namespace leeway {

// The numbers are those of the protocol and of checkpoints.
enum class Verdict : std::uint8_t {
  kApplied = 1,
  kSummed = 2,
  kAbsent = 3,
  kLateDropped = 4,
  kRefused = 5,
  kInitialized = 6,  // of an Init; consumes nothing
  kGap = 16,         // seq is the last one taken; resend from seq + 1
  kFenced = 17,      // this life of the worker is over
  kMoved = 18,       // not owned here, or under another term
  kWindow = 19,      // beyond the open iterations: keep it, OPEN follows
  kOpen = 20,        // the push that got WINDOW fits now
};

// Whether the push has used up its sequence number.
[[nodiscard]] constexpr bool ConsumesSeq(Verdict v) {
  return v >= Verdict::kApplied && v <= Verdict::kRefused;
}
// Whether a number from outside is one of the above.
[[nodiscard]] constexpr bool IsVerdict(Verdict v) {
  return (v >= Verdict::kApplied && v <= Verdict::kInitialized) ||
         (v >= Verdict::kGap && v <= Verdict::kOpen);
}

}  // namespace leeway
