// BytePipe: the bytes that two ends of a local connection send each other, with no system call while both are
// awake.
//
// Each end has a ring that it alone writes, in shared memory of its own. Beside the ring lie its counters:
// bytes written, bytes taken out of the other's ring, whether it sleeps, whether it waits for room. The other
// end maps all of it and reads. An end that sleeps or waits needs a bell through the socket; TakePeerSleeps
// and TakePeerWaits say when, once for each time. Published bytes stay readable after the end that wrote them
// is gone. A peer may write anything into its memory: BytePipe checks it. Thread rule: the loop's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "leeway/status.h"
#include "transport/local/peer_regions.h"
#include "transport/local/shared_region.h"

namespace leeway {

// At the beginning of an end's memory; the ring follows.
struct alignas(64) PipeHead {
  alignas(64) std::atomic<std::uint64_t> written{0};  // bytes put into this end's ring, ever
  alignas(64) std::atomic<std::uint64_t> taken{0};    // bytes taken out of the other's ring, ever
  // Odd: this end sleeps or is about to; even: it looks by itself. Counts on with every change.
  alignas(64) std::atomic<std::uint32_t> sleeps{0};
  std::atomic<std::uint32_t> waits{0};  // likewise: it waits for room in its own ring
};

class BytePipe {
 public:
  // A power of two. Both rings of a connection fit the second-level cache of a core.
  static constexpr std::size_t kRingBytes = 64 * 1024;
  static constexpr std::size_t kMemoryBytes = sizeof(PipeHead) + kRingBytes;

  [[nodiscard]] static Result<std::unique_ptr<BytePipe>> Make();
  // The descriptor that the other end maps: kMemoryBytes of it.
  [[nodiscard]] int fd() const { return own_.read_only_fd(); }
  // The other end's memory. `fd` stays the caller's. Once.
  [[nodiscard]] Status Join(std::uint64_t bytes, int fd);
  [[nodiscard]] bool joined() const { return peer_ != nullptr; }

  // REQUIRES for all below: joined.
  // Writes as much as there is room for; the other end sees it after Publish.
  std::size_t Put(std::span<const std::byte> bytes);
  void Publish();
  // After Publish: the other end sleeps, and this has not said so of the same sleep before.
  [[nodiscard]] bool TakePeerSleeps();
  // After Put found no room. True: now there is some. False: the other end wakes this one when there is.
  [[nodiscard]] bool WaitForRoom();

  [[nodiscard]] bool HasBytes() const { return peer_->written.load(std::memory_order_acquire) != taken_; }
  // Takes the bytes that are there, up to the size of `space`. An error: the peer's counters are impossible.
  [[nodiscard]] Result<std::size_t> Take(std::span<std::byte> space);
  // After Take: the other end waits for room, and this has not said so of the same wait before.
  [[nodiscard]] bool TakePeerWaits();

  // From now on the other end must wake this one, until OnAwake. False: there is something to take already.
  [[nodiscard]] bool MaySleep();
  void OnAwake();

 private:
  explicit BytePipe(SharedRegion own);
  [[nodiscard]] std::size_t Room() const;

  const SharedRegion own_;
  PipeHead* const head_;             // in own_
  const std::span<std::byte> ring_;  // in own_
  PeerRegions peer_memory_;          // one region
  const PipeHead* peer_ = nullptr;
  const std::byte* peer_ring_ = nullptr;
  std::uint64_t written_ = 0;  // published or not
  std::uint64_t taken_ = 0;
  std::uint64_t peer_taken_ =
      0;  // as of the last look: what it has taken since is room that is not needed yet
  std::uint32_t sleeps_said_ = 0, waits_said_ = 0;
};

}  // namespace leeway
