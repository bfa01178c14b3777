#include "node/server/landed.h"

#include "base/errors.h"

namespace leeway {
namespace {

BufferRef TakeFor(const wire::PushEntry& entry, const BlockStore&, BufferPool& pool) {
  return pool.Take(entry.payload_bytes / sizeof(float), Arena::Use::kKept);
}

// Initial values become the first version, which workers pull.
BufferRef TakeFor(const wire::InitEntry& entry, const BlockStore& blocks, BufferPool& pool) {
  Block* block = blocks.Find(entry.block);
  if (!block->initialized()) return block->TakeFirst();
  return pool.Take(entry.payload_bytes / sizeof(float), Arena::Use::kSent);
}

// The block keeps the buffer as its array. Workers pull array 0, its values.
BufferRef TakeFor(const wire::AssignEntry& entry, const BlockStore&, BufferPool& pool) {
  return pool.Take(entry.payload_bytes / sizeof(float),
                   entry.array == 0 ? Arena::Use::kSent : Arena::Use::kKept);
}

}  // namespace

Result<std::span<const float>> ViewCursor::Take(std::span<const std::span<const std::byte>> views,
                                                std::uint32_t bytes) {
  if (bytes == 0) return std::span<const float>();
  while (view_ < views.size() && taken_ == views[view_].size()) {
    ++view_;
    taken_ = 0;
  }
  const std::size_t left = view_ < views.size() ? views[view_].size() - taken_ : 0;
  if (bytes > left || taken_ % sizeof(float) != 0) {
    return Protocol("the values of a block, {} bytes, do not lie in one piece: {} bytes are left of piece {}",
                    bytes, left, view_);
  }
  const auto* const at = reinterpret_cast<const float*>(views[view_].data() + taken_);
  taken_ += bytes;
  return std::span(at, bytes / sizeof(float));
}

std::shared_ptr<LandedPush> SparePushes::Take() {
  if (spare_.empty()) return std::make_shared<LandedPush>();
  std::shared_ptr<LandedPush> landed = std::move(spare_.back());
  spare_.pop_back();
  return landed;
}

void SparePushes::Return(std::shared_ptr<LandedPush> landed) {
  if (landed.use_count() != 1 || spare_.size() == kMost) return;
  landed->buffers.clear();
  landed->starved.clear();
  spare_.push_back(std::move(landed));
}

template <typename Message>
Status DecodeLanded(const FrameHead& head, std::span<const std::byte> body, MemberKey from,
                    const BlockStore& blocks, BufferPool& pool, Landed<Message>& out) {
  const auto kind = static_cast<wire::Kind>(head.kind);
  Message& message = out.message;
  LW_RETURN_IF_ERROR(wire::Decode(body, head.payload_bytes, message));
  LW_RETURN_IF_ERROR(CheckSender({message.worker, message.incarnation}, from, kind));
  for (const auto& entry : message.entries) {
    const Block* block = blocks.Find(entry.block);
    if (block != nullptr && entry.payload_bytes != block->elements() * sizeof(float)) {
      return Protocol("{} of block {} from worker {}: got {} bytes, wanted {} ({} values)",
                      wire::KindName(kind), entry.block.value(), from.worker.value(), entry.payload_bytes,
                      block->elements() * sizeof(float), block->elements());
    }
    if (entry.payload_bytes % sizeof(float) != 0) {
      return Protocol("{} of block {} from worker {}: got {} bytes, wanted a multiple of {}",
                      wire::KindName(kind), entry.block.value(), from.worker.value(), entry.payload_bytes,
                      sizeof(float));
    }
  }
  out.in_place = head.readable;
  if (out.in_place) return Status::Ok();
  // Buffers come after all checks: a refused frame takes nothing from the pool.
  out.buffers.reserve(message.entries.size());
  for (const auto& entry : message.entries) {
    const bool wanted = entry.payload_bytes > 0 && blocks.Find(entry.block) != nullptr;
    out.buffers.push_back(wanted ? TakeFor(entry, blocks, pool) : nullptr);
    if (wanted && out.buffers.back() == nullptr) out.starved.push_back(out.buffers.size() - 1);
  }
  return Status::Ok();
}

template Status DecodeLanded(const FrameHead&, std::span<const std::byte>, MemberKey, const BlockStore&,
                             BufferPool&, Landed<wire::Push>&);
template Status DecodeLanded(const FrameHead&, std::span<const std::byte>, MemberKey, const BlockStore&,
                             BufferPool&, Landed<wire::Init>&);
template Status DecodeLanded(const FrameHead&, std::span<const std::byte>, MemberKey, const BlockStore&,
                             BufferPool&, Landed<wire::Assign>&);

Status CheckSender(MemberKey claimed, MemberKey from, wire::Kind kind) {
  if (claimed == from) return Status::Ok();
  return Protocol(
      "{} in the name of worker {} incarnation {} over the connection of worker {} incarnation {}",
      wire::KindName(kind), claimed.worker.value(), claimed.incarnation.value(), from.worker.value(),
      from.incarnation.value());
}

}  // namespace leeway
