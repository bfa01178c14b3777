// Outbox: collects the verdicts and answers of one event, and sends them at its end, per worker and several
// per frame.
//
// Verdicts go first: a worker learns what became of its push before the values that it led to. Answers pin
// the version they send and copy nothing. The outbox drops letters to a life without a connection: the worker
// asks again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "block/block.h"
#include "block/rank_table.h"
#include "leeway/env.h"
#include "leeway/transport.h"
#include "node/inbound.h"
#include "node/server/held_answers.h"
#include "node/server/sessions.h"
#include "wire/messages.h"

namespace leeway {

class Outbox {
 public:
  // `answer_bytes_max`: payload of a frame of answers, unless a single block is larger. Receivers take at
  // least a MiB, and a block.
  // Calls `more`, from outside of all calls, when answers that wait for earlier ones may leave: by a Flush.
  Outbox(std::uint64_t answer_bytes_max, Timers& timers, std::function<void()> more)
      : answer_bytes_max_(answer_bytes_max), held_(timers, std::move(more)) {}

  void AddVerdict(MemberKey to, const wire::VerdictEntry& verdict);
  void AddResumed(MemberKey to, const wire::ResumedEntry& resumed);
  // `values` null: unchanged. Answers with a priority may pass others.
  void AddAnswer(MemberKey to, const wire::AnswerEntry& answer, ConstBufferRef values,
                 std::optional<std::uint8_t> priority);
  void Flush(const Sessions& sessions, Inbound& inbound);
  // The answers to workers that want only the newest values.
  [[nodiscard]] HeldAnswers& held() { return held_; }
  [[nodiscard]] const HeldAnswers& held() const { return held_; }
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  struct Answer {
    wire::AnswerEntry entry;
    ConstBufferRef values;
    std::optional<std::uint8_t> priority;
  };
  // Verdicts and answers to one life. A flush empties a letter and keeps its memory for the next event.
  struct Letter {
    MemberKey to;
    std::vector<wire::VerdictEntry> verdicts;
    std::vector<wire::ResumedEntry> resumed;
    std::vector<Answer> answers;
  };

  Letter& LetterTo(MemberKey to);
  template <typename Message, typename Entry>
  void SendInFrames(MemberKey to, std::span<const Entry> left, wire::Kind kind, Message& message,
                    ConnectionId id, Inbound& inbound);
  void SendResumed(const Letter& letter, ConnectionId id, Inbound& inbound);
  void SendVerdicts(const Letter& letter, ConnectionId id, Inbound& inbound);
  void SendAnswers(Letter& letter, ConnectionId id, Inbound& inbound);
  void HoldAnswers(Letter& letter);
  // Sends the held answers to this life that may leave now.
  void SendHeld(MemberKey to, ConnectionId id, Inbound& inbound);
  // Sends body_ and payload_, and empties payload_.
  void Send(ConnectionId id, wire::Kind kind, Inbound& inbound, const FrameOrder& order = {});

  const std::uint64_t answer_bytes_max_;
  HeldAnswers held_;
  std::vector<Letter> letters_;
  std::size_t used_ = 0;           // letters_[0, used_) hold something
  RankTable<std::size_t> places_;  // index of the last letter to a worker, perhaps of an earlier event
  wire::Verdicts verdicts_;
  wire::Answers answers_;
  std::vector<Pinned> payload_;
  std::vector<std::byte> body_;
  std::vector<BlockId> named_;  // by the frame at hand
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace leeway
