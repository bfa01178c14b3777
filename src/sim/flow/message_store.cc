#include "sim/flow/message_store.h"

#include <memory>

namespace leeway::sim {

MessageId MessageStore::New() {
  if (free_.empty()) {
    messages_.Add();
    return static_cast<MessageId>(messages_.size() - 1);
  }
  const MessageId id = free_.back();
  free_.pop_back();
  return id;
}

void MessageStore::Free(MessageId id) {
  Message& message = messages_[id];
  message.body.Clear();
  message.is_end = false;
  message.next = kNoMessage;
  message.payload.Clear();
  free_.push_back(id);
}

void MessageStore::CopyPayload(MessageId id) {
  std::vector<Pinned> copies;
  for (const Pinned& part : messages_[id].payload.all()) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(part.bytes.begin(), part.bytes.end());
    copies.push_back({*bytes, bytes});
  }
  messages_[id].payload.Assign(copies);
}

void MessageStore::Append(MessageList& list, MessageId id) {
  if (list.empty()) {
    list.first = id;
  } else {
    messages_[list.last].next = id;
  }
  list.last = id;
}

void MessageStore::Insert(MessageList& list, MessageId id) {
  const wire::SendOrder::Rank& rank = messages_[id].rank;
  if (list.first == list.last || messages_[list.last].rank < rank) return Append(list, id);
  MessageId before = list.first;
  while (messages_[messages_[before].next].rank < rank) before = messages_[before].next;
  messages_[id].next = messages_[before].next;
  messages_[before].next = id;
}

MessageId MessageStore::TakeFirst(MessageList& list) {
  const MessageId id = list.first;
  list.first = messages_[id].next;
  messages_[id].next = kNoMessage;
  if (list.first == kNoMessage) list.last = kNoMessage;
  return id;
}

}  // namespace leeway::sim
