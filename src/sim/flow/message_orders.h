// MessageOrders: the places of messages that wait for one connection, as wire::SendOrder says it.
//
// The first message of a list has begun, or is about to: nothing passes it. Belongs to a FlowNetwork.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "leeway/transport.h"
#include "sim/flow/message_store.h"
#include "wire/send_order.h"

namespace leeway::sim {

class MessageOrders {
 public:
  // Borrows `messages`.
  explicit MessageOrders(MessageStore& messages) : messages_(messages) {}

  // Puts a message into its place in the list of the end `index`.
  void Queue(std::uint32_t index, MessageList& list, MessageId id, const FrameOrder& order);
  // Takes the first message out of that list.
  [[nodiscard]] MessageId TakeFirst(std::uint32_t index, MessageList& list);
  // The list is dropped.
  void Forget(std::uint32_t index) { orders_.erase(index); }

 private:
  MessageStore& messages_;
  // Of ends where messages wait behind the first, and some that may pass others have come since they do.
  std::unordered_map<std::uint32_t, wire::SendOrder> orders_;
};

}  // namespace leeway::sim
