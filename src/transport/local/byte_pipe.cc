#include "transport/local/byte_pipe.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::size_t At(std::uint64_t position) { return position % BytePipe::kRingBytes; }

// Odd, and not the count that was told before.
bool IsNews(const std::atomic<std::uint32_t>& state, std::uint32_t& said) {
  const std::uint32_t now = state.load(std::memory_order_seq_cst);
  return now % 2 == 1 && std::exchange(said, now) != now;
}

}  // namespace

Result<std::unique_ptr<BytePipe>> BytePipe::Make() {
  LW_ASSIGN_OR_RETURN(SharedRegion own, SharedRegion::Make(kMemoryBytes));
  return std::unique_ptr<BytePipe>(new BytePipe(std::move(own)));
}

BytePipe::BytePipe(SharedRegion own)
    : own_(std::move(own)),
      head_(new (own_.bytes().data()) PipeHead),
      ring_(own_.bytes().subspan(sizeof(PipeHead))),
      peer_memory_(kMemoryBytes) {}

Status BytePipe::Join(std::uint64_t bytes, int fd) {
  if (joined()) return Protocol("a second pipe");
  if (bytes != kMemoryBytes) return Protocol("a pipe of {} bytes, wanted {}", bytes, kMemoryBytes);
  LW_RETURN_IF_ERROR(peer_memory_.Add(0, bytes, fd));
  LW_ASSIGN_OR_RETURN(const std::span<const std::byte> memory,
                      peer_memory_.At(0, 0, bytes, alignof(PipeHead)));
  peer_ = reinterpret_cast<const PipeHead*>(memory.data());
  peer_ring_ = memory.data() + sizeof(PipeHead);
  return Status::Ok();
}

// 0 if the peer claims to have taken more than was written.
std::size_t BytePipe::Room() const {
  const std::uint64_t used = written_ - peer_taken_;
  return used <= kRingBytes ? kRingBytes - used : 0;
}

std::size_t BytePipe::Put(std::span<const std::byte> bytes) {
  // The peer's count lies in a line that it writes all the time, so it is looked at only if need be.
  if (Room() < bytes.size()) peer_taken_ = peer_->taken.load(std::memory_order_acquire);
  const std::size_t put = std::min(Room(), bytes.size());
  const std::size_t first = std::min(put, kRingBytes - At(written_));
  std::memcpy(ring_.data() + At(written_), bytes.data(), first);
  std::memcpy(ring_.data(), bytes.data() + first, put - first);
  written_ += put;
  return put;
}

// In one order with the other end's MaySleep: either that sees these bytes, or TakePeerSleeps sees it sleep.
void BytePipe::Publish() { head_->written.store(written_, std::memory_order_seq_cst); }

bool BytePipe::TakePeerSleeps() { return IsNews(peer_->sleeps, sleeps_said_); }

bool BytePipe::WaitForRoom() {
  // The next odd number: of the last one the other end may have heard already.
  const std::uint32_t waits = (head_->waits.load(std::memory_order_relaxed) + 1) | 1U;
  head_->waits.store(waits, std::memory_order_seq_cst);
  // In one order with the other end's Take: either this sees the room, or TakePeerWaits sees this wait.
  peer_taken_ = peer_->taken.load(std::memory_order_seq_cst);
  if (Room() == 0) return false;
  head_->waits.store(waits + 1, std::memory_order_relaxed);
  return true;
}

Result<std::size_t> BytePipe::Take(std::span<std::byte> space) {
  const std::uint64_t there = peer_->written.load(std::memory_order_acquire) - taken_;
  if (there > kRingBytes) {
    return Protocol("pipe: {} bytes that were not taken yet, wanted at most the {} of the ring", there,
                    kRingBytes);
  }
  const std::size_t taken = std::min<std::uint64_t>(there, space.size());
  const std::size_t first = std::min(taken, kRingBytes - At(taken_));
  std::memcpy(space.data(), peer_ring_ + At(taken_), first);
  std::memcpy(space.data() + first, peer_ring_, taken - first);
  taken_ += taken;
  head_->taken.store(taken_, std::memory_order_seq_cst);
  return taken;
}

bool BytePipe::TakePeerWaits() { return IsNews(peer_->waits, waits_said_); }

bool BytePipe::MaySleep() {
  head_->sleeps.fetch_add(1, std::memory_order_seq_cst);
  if (peer_->written.load(std::memory_order_seq_cst) == taken_) return true;
  OnAwake();
  return false;
}

void BytePipe::OnAwake() { head_->sleeps.fetch_add(1, std::memory_order_relaxed); }

}  // namespace leeway
