// AnswerLandings: where the values of answers land, decided when their frames begin.
//
// Values that are wanted go straight into the table's pair or into the memory of an own-clock pull; others
// into a buffer that is dropped. Several frames may be under way, one per connection. Thread rule: the
// node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "block/buffer_pool.h"
#include "leeway/transport.h"
#include "node/worker/table_set.h"
#include "node/worker/worker_identity.h"
#include "wire/messages.h"

namespace leeway {

struct AnswerLanding {
  // Where the values of one answer land.
  struct Slot {
    enum class Use : std::uint8_t { kNothing, kPair, kInto } use = Use::kNothing;
    BufferRef staged;
  };
  wire::Answers answers;
  std::vector<Slot> slots;  // by entry
};

class AnswerLandings {
 public:
  // Whether an answer of this shard says something new.
  [[nodiscard]] static bool IsWanted(ShardId from, const WorkerBlock& block, const wire::AnswerEntry& entry);
  // A frame with values begins to come; its lease is an AnswerLanding.
  [[nodiscard]] Result<Landing> Begin(const WorkerIdentity& self, ShardId from, TableSet& tables,
                                      std::span<const std::byte> body, std::uint64_t payload_bytes);
  // A frame without values.
  [[nodiscard]] Result<std::shared_ptr<AnswerLanding>> Unchanged(std::span<const std::byte> body);

 private:
  [[nodiscard]] std::shared_ptr<AnswerLanding> Take();

  std::vector<std::shared_ptr<AnswerLanding>> landings_;  // kept to use their memory again
};

}  // namespace leeway
