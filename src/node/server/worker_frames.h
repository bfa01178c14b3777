// WorkerFrames: turns the frames of workers into calls of blocks, and answers their reads of arrays.
//
// The node gives it each frame twice: to land its payload, then whole. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/rate_limited_log.h"
#include "block/block.h"
#include "leeway/env.h"
#include "leeway/trace.h"
#include "leeway/transport.h"
#include "node/server/block_store.h"
#include "node/server/landed.h"
#include "wire/messages.h"

namespace leeway {

class WorkerFrames {
 public:
  // A frame leads to these events beside those of the blocks, always during Take.
  struct Events {
    // A worker says how far it is with a block, perhaps under another term. Only while a takeover is under
    // way.
    std::function<void(const Block& block, Term term, MemberKey from)> heard;
    // A block holds up a pull.
    std::function<void(TableId table, MemberKey from, Iteration progress)> delayed;
    // A worker that wants the newest values only asks anew.
    std::function<void(MemberKey from, BlockId block, Ask ask)> wants_newest;
    // The shard does not have the block.
    std::function<void(MemberKey to, const wire::VerdictEntry& verdict)> moved;
    // A frame of arrays, which answers a read.
    std::function<void(MemberKey to, std::span<const std::byte> body, std::span<const Pinned> payload)>
        arrays;
  };
  // Borrows all. `payload_bytes_max`: of a frame of arrays, unless a single array is larger. `shard`: its
  // index among those of the server, for a trace.
  WorkerFrames(Env& env, const BlockStore& blocks, BufferPool& pool, std::uint64_t payload_bytes_max,
               std::uint32_t shard, Events events);

  // Finds memory for the payload of a frame. An error breaks the protocol.
  [[nodiscard]] Result<Landing> Land(MemberKey from, const FrameHead& head, std::span<const std::byte> body);
  // An error unless Take takes frames of this kind.
  [[nodiscard]] static Status CheckKind(wire::Kind kind);
  // Takes a whole frame. An error breaks the protocol; the entries before it count. `takeover`: one is under
  // way.
  [[nodiscard]] Status Take(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                            Landing&& landing, bool takeover);
  // Entries for blocks that are not here.
  [[nodiscard]] std::uint64_t moved() const { return moved_; }
  // Entries whose payload found no memory.
  [[nodiscard]] std::uint64_t no_memory() const { return no_memory_; }

 private:
  // Decodes a frame and finds memory for its payload.
  template <typename Message>
  Result<std::shared_ptr<Landed<Message>>> Decode(MemberKey from, const FrameHead& head,
                                                  std::span<const std::byte> body);
  // The message of a frame, which Land has decoded if the frame has a payload.
  template <typename Message>
  Result<std::shared_ptr<Landed<Message>>> Open(MemberKey from, const FrameHead& head,
                                                std::span<const std::byte> body, Landing& landing);
  // Gives the values of each entry to its block, by `call`.
  template <typename Message, typename Call>
  Status Deal(MemberKey from, Landed<Message>& landed, const Landing& landing, Call call);
  template <typename Entry>
  void SayMoved(MemberKey to, const Entry& entry);
  Status TakePush(MemberKey from, const FrameHead& head, std::span<const std::byte> body, Landing&& landing,
                  bool takeover);
  // Adds a push that the block has taken since `began`. REQUIRES: there is a trace.
  void TracePush(const PushEvent& push, const Block& block, TimePoint began) const;
  Status TakeInit(MemberKey from, const FrameHead& head, std::span<const std::byte> body, Landing&& landing);
  Status TakeAbsent(MemberKey from, std::span<const std::byte> body, bool takeover);
  Status TakeResume(MemberKey from, std::span<const std::byte> body, bool takeover);
  Status TakePull(MemberKey from, std::span<const std::byte> body);
  Status TakeAssign(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                    Landing&& landing);
  Status TakeRead(MemberKey from, std::span<const std::byte> body);
  // The block, if it is here and `landed` fits it. A block may come to be while a frame for it is under way.
  [[nodiscard]] Block* FindFor(BlockId id, const Gradient& landed) const;
  // Counts an entry that found no memory. Null if its block is not here.
  [[nodiscard]] Block* NoteStarved(BlockId id);

  const Clock& clock_;
  Trace* const trace_;
  const std::uint32_t track_;  // in it
  const BlockStore& blocks_;
  BufferPool& pool_;
  const std::uint64_t payload_bytes_max_;
  const Events events_;
  RateLimitedLog strained_;  // of pushes without memory
  SparePushes spare_pushes_;
  wire::Absent absent_;  // kept from frame to frame for the memory of its entries
  wire::Pull pull_;      // the same
  std::uint64_t moved_ = 0;
  std::uint64_t no_memory_ = 0;
};

}  // namespace leeway
