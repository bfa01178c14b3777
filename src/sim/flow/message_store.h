// MessageStore: the messages under way in a FlowNetwork. Each has a number and a place, whose memory is
// reused; lists of messages are chains through the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "sim/flow/inline_list.h"
#include "sim/flow/stable_list.h"
#include "wire/send_order.h"

namespace leeway::sim {

using MessageId = std::uint32_t;
inline constexpr MessageId kNoMessage = UINT32_MAX;

// Most bodies and payloads fit into it: a message of a single block takes four cache lines.
struct alignas(64) Message {
  std::uint8_t kind = 0;
  bool is_end = false;  // no frame: tells the peer that the sender has closed
  MessageId next = kNoMessage;
  Duration sent{0};
  Duration ready{0};  // the sender needs until then
  std::uint64_t payload_bytes = 0;
  double wire_bytes = 0;
  InlineList<Pinned, 1> payload;
  InlineList<std::byte, 128> body;
  wire::SendOrder::Rank rank;  // among the waiting messages of its connection
};
static_assert(sizeof(Message) == 256);

struct MessageList {
  MessageId first = kNoMessage, last = kNoMessage;
  [[nodiscard]] bool empty() const { return first == kNoMessage; }
};

class MessageStore {
 public:
  [[nodiscard]] MessageId New();
  // Drops its pins, which may call into nodes.
  void Free(MessageId id);
  // Drops its pins too, and keeps a copy of the payload.
  void CopyPayload(MessageId id);
  [[nodiscard]] Message& operator[](MessageId id) { return messages_[id]; }
  [[nodiscard]] const Message& operator[](MessageId id) const { return messages_[id]; }
  void Append(MessageList& list, MessageId id);
  // Before the first message that its rank is below, but never as the first. REQUIRES: the list is not empty.
  void Insert(MessageList& list, MessageId id);
  [[nodiscard]] MessageId TakeFirst(MessageList& list);

 private:
  StableList<Message> messages_;
  std::vector<MessageId> free_;
};

}  // namespace leeway::sim
