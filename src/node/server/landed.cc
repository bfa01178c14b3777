#include "node/server/landed.h"

#include "base/errors.h"

namespace leeway {
namespace {

Status CheckFormat(const wire::PushEntry& entry) {
  if (entry.dtype != DType::kFloat32) {
    return Protocol("push of block {}: got dtype {}, wanted {}", entry.block.value(),
                    static_cast<int>(entry.dtype), static_cast<int>(DType::kFloat32));
  }
  if (entry.codec != 0)
    return Protocol("push of block {}: got codec {}, wanted 0 (none)", entry.block.value(), entry.codec);
  return Status::Ok();
}

Status CheckFormat(const wire::InitEntry&) { return Status::Ok(); }

template <typename Message>
Result<std::shared_ptr<Landed<Message>>> Land(wire::Kind kind, std::span<const std::byte> body,
                                              std::uint64_t payload_bytes, MemberKey from,
                                              const BlockStore& blocks, BufferPool& pool) {
  auto landed = std::make_shared<Landed<Message>>();
  Message& message = landed->message;
  LW_RETURN_IF_ERROR(wire::Decode(body, payload_bytes, message));
  LW_RETURN_IF_ERROR(CheckSender({message.worker, message.incarnation}, from, kind));
  for (const auto& entry : message.entries) {
    LW_RETURN_IF_ERROR(CheckFormat(entry));
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
  // Only now, so that a frame that is refused takes nothing from the pool.
  landed->buffers.reserve(message.entries.size());
  for (const auto& entry : message.entries) {
    landed->buffers.push_back(entry.payload_bytes == 0 ? nullptr
                                                       : pool.Take(entry.payload_bytes / sizeof(float)));
  }
  return landed;
}

}  // namespace

Result<std::shared_ptr<LandedPush>> LandPush(std::span<const std::byte> body, std::uint64_t payload_bytes,
                                             MemberKey from, const BlockStore& blocks, BufferPool& pool) {
  return Land<wire::Push>(wire::Kind::kPush, body, payload_bytes, from, blocks, pool);
}

Result<std::shared_ptr<LandedInit>> LandInit(std::span<const std::byte> body, std::uint64_t payload_bytes,
                                             MemberKey from, const BlockStore& blocks, BufferPool& pool) {
  return Land<wire::Init>(wire::Kind::kInit, body, payload_bytes, from, blocks, pool);
}

Status CheckSender(MemberKey claimed, MemberKey from, wire::Kind kind) {
  if (claimed == from) return Status::Ok();
  return Protocol(
      "{} in the name of worker {} incarnation {} over the connection of worker {} incarnation {}",
      wire::KindName(kind), claimed.worker.value(), claimed.incarnation.value(), from.worker.value(),
      from.incarnation.value());
}

}  // namespace leeway
