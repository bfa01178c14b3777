// A thread that sleeps on a 32-bit word until somebody changes it and wakes it (Linux's futex, within one
// process).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace leeway {

// Sleeps if the word still has `value`; returns when woken, when it has another, and now and then for
// nothing. False if `timeout` has passed.
bool FutexSleep(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                std::chrono::nanoseconds timeout);
// Of 64 bits, the low half.
bool FutexSleep(const std::atomic<std::uint64_t>& word, std::uint64_t value,
                std::chrono::nanoseconds timeout);

// Wakes everyone who sleeps on the word.
void FutexWake(const std::atomic<std::uint32_t>& word);
void FutexWake(const std::atomic<std::uint64_t>& word);

}  // namespace leeway
