// What a shard does with frames that set or read arrays of blocks: values, or the optimizer's state.
#include <memory>
#include <utility>
#include <vector>

#include "node/server/core.h"
#include "node/server/landed.h"
#include "wire/frame.h"

namespace leeway {
namespace {

// Builds the frames that answer one Read, each of so many payload bytes at most unless an array is larger.
class ArraysFrames {
 public:
  ArraysFrames(MemberKey to, std::uint64_t request, std::uint64_t payload_bytes_max)
      : payload_bytes_max_(payload_bytes_max) {
    message_.worker = to.worker;
    message_.incarnation = to.incarnation;
    message_.request = request;
  }

  // `array` null: without a payload.
  template <typename Send>
  void Add(wire::ArraysEntry entry, const ConstBufferRef& array, Send send) {
    const std::uint64_t bytes = array == nullptr ? 0 : array->bytes().size();
    if ((payload_bytes_ > 0 && payload_bytes_ + bytes > payload_bytes_max_) ||
        message_.entries.size() == wire::kEntriesMax)
      Flush(send);
    entry.payload_bytes = static_cast<std::uint32_t>(bytes);
    message_.entries.push_back(entry);
    payload_bytes_ += bytes;
    if (array != nullptr) payload_.push_back({array->bytes(), array});
  }

  template <typename Send>
  void Flush(Send send) {
    if (message_.entries.empty()) return;
    std::vector<std::byte> body;
    wire::Encode(message_, body);
    send(body, payload_);
    message_.entries.clear();
    payload_.clear();
    payload_bytes_ = 0;
  }

 private:
  const std::uint64_t payload_bytes_max_;
  wire::Arrays message_;
  std::vector<Pinned> payload_;
  std::uint64_t payload_bytes_ = 0;
};

}  // namespace

Status ServerNode::Core::TakeAssign(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                                    Landing&& landing) {
  auto landed = std::static_pointer_cast<LandedAssign>(std::move(landing.lease));
  if (landed == nullptr) {
    LW_ASSIGN_OR_RETURN(landed, LandAssign(head, body, from, blocks_, pool_));
  }
  Dealer<wire::Assign> dealer(*landed, landing);
  for (const wire::AssignEntry& entry : landed->message.entries) {
    LW_ASSIGN_OR_RETURN(Gradient array, dealer.Next(entry.payload_bytes));
    // Without memory the block gets an empty array, which it refuses.
    Block* block = dealer.Starved() ? NoteStarved(entry.block) : FindFor(entry.block, array);
    if (block == nullptr) {
      SayMoved(from, entry.block, entry.term, entry.seq);
      continue;
    }
    block->OnAssign({.from = from,
                     .term = entry.term,
                     .seq = entry.seq,
                     .base_version = entry.base_version,
                     .steps = entry.steps,
                     .array = entry.array},
                    std::move(array));
  }
  return Status::Ok();
}

Status ServerNode::Core::TakeRead(ConnectionId id, MemberKey from, std::span<const std::byte> body) {
  wire::Read read;
  LW_RETURN_IF_ERROR(wire::Decode(body, 0, read));
  LW_RETURN_IF_ERROR(CheckSender({read.worker, read.incarnation}, from, wire::Kind::kRead));
  ArraysFrames frames(from, read.request, options_.link.frame_payload_bytes);
  const auto send = [&](const std::vector<std::byte>& head, const std::vector<Pinned>& payload) {
    inbound_.Send(id, wire::Kind::kArrays, head, payload);
  };
  for (const wire::ReadEntry& entry : read.entries) {
    const Block* const block = blocks_.Find(entry.block);
    if (block == nullptr || block->term() != entry.term) {
      SayMoved(from, entry.block, entry.term, Seq(0));
      continue;
    }
    // Pinned, and all of one version: the block may step while they are under way.
    const BlockArrays now = block->Arrays();
    const bool state = read.what == wire::ReadWhat::kState;
    std::vector<ConstBufferRef> arrays;
    if (state) arrays = now.slots;
    if (!state && now.version != entry.cached_version && now.values != nullptr) arrays.push_back(now.values);
    wire::ArraysEntry answer{.block = entry.block,
                             .term = entry.term,
                             .version = now.version,
                             .steps = now.steps,
                             .payload_bytes = 0,
                             .array = 0,
                             .arrays = static_cast<std::uint8_t>(arrays.size())};
    if (arrays.empty()) frames.Add(answer, nullptr, send);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      answer.array = static_cast<std::uint8_t>(state ? i + 1 : 0);
      frames.Add(answer, arrays[i], send);
    }
  }
  frames.Flush(send);
  return Status::Ok();
}

}  // namespace leeway
