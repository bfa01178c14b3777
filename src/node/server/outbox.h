// Outbox: collects the verdicts and answers of one event, and sends them at its end, per worker and several
// per frame.
//
// Verdicts go first: a worker learns what became of its push before the values that it led to. Answers pin
// the version they send and copy nothing. The outbox drops letters to a life without a connection: the worker
// asks again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "block/block.h"
#include "block/rank_table.h"
#include "leeway/transport.h"
#include "node/inbound.h"
#include "node/server/sessions.h"
#include "wire/messages.h"

namespace leeway {

class Outbox {
 public:
  // `answer_bytes_max`: payload of a frame of answers, unless a single block is larger. Receivers take at
  // least a MiB, and a block.
  explicit Outbox(std::uint64_t answer_bytes_max) : answer_bytes_max_(answer_bytes_max) {}

  void AddVerdict(MemberKey to, const wire::VerdictEntry& verdict);
  // `values` null: unchanged.
  void AddAnswer(MemberKey to, const wire::AnswerEntry& answer, ConstBufferRef values);
  void Flush(const Sessions& sessions, Inbound& inbound);
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  // Verdicts and answers to one life. A flush empties a letter and keeps its memory for the next event.
  struct Letter {
    MemberKey to;
    std::vector<wire::VerdictEntry> verdicts;
    std::vector<wire::AnswerEntry> answers;
    std::vector<ConstBufferRef> values;  // one per answer
  };

  Letter& LetterTo(MemberKey to);
  void SendVerdicts(const Letter& letter, ConnectionId id, Inbound& inbound);
  void SendAnswers(Letter& letter, ConnectionId id, Inbound& inbound);
  void Send(ConnectionId id, wire::Kind kind, Inbound& inbound);

  const std::uint64_t answer_bytes_max_;
  std::vector<Letter> letters_;
  std::size_t used_ = 0;           // letters_[0, used_) hold something
  RankTable<std::size_t> places_;  // index of the last letter to a worker, perhaps of an earlier event
  wire::Verdicts verdicts_;
  wire::Answers answers_;
  std::vector<Pinned> payload_;
  std::vector<std::byte> body_;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace leeway
