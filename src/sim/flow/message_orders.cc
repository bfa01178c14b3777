#include "sim/flow/message_orders.h"

namespace leeway::sim {

void MessageOrders::Queue(std::uint32_t index, MessageList& list, MessageId id, const FrameOrder& order) {
  Message& message = messages_[id];
  message.rank = {};
  const bool is_plain = order.kind == FrameOrder::Kind::kInOrder;
  if (list.empty() || (is_plain && !orders_.contains(index))) return messages_.Append(list, id);
  message.rank = orders_[index].Next(order, static_cast<std::uint64_t>(message.wire_bytes));
  messages_.Insert(list, id);
}

MessageId MessageOrders::TakeFirst(std::uint32_t index, MessageList& list) {
  const MessageId id = messages_.TakeFirst(list);
  if (list.first == list.last && !orders_.empty()) orders_.erase(index);
  return id;
}

}  // namespace leeway::sim
