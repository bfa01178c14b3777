#include "node/server/outbox.h"

#include <algorithm>
#include <utility>

#include "wire/frame.h"

namespace leeway {

Outbox::Letter& Outbox::LetterTo(MemberKey to) {
  // Most events lead to letters to one worker alone.
  if (used_ > 0 && letters_[used_ - 1].to == to) return letters_[used_ - 1];
  std::size_t& place = places_[to.worker];
  if (place < used_ && letters_[place].to == to) return letters_[place];
  if (place < used_ && letters_[place].to.worker == to.worker) {  // two lives of a worker in one event
    for (Letter& letter : std::span(letters_).first(used_)) {
      if (letter.to == to) return letter;
    }
  }
  if (used_ == letters_.size()) letters_.emplace_back();
  place = used_;
  Letter& letter = letters_[used_++];
  letter.to = to;
  return letter;
}

void Outbox::AddVerdict(MemberKey to, const wire::VerdictEntry& verdict) {
  LetterTo(to).verdicts.push_back(verdict);
}

void Outbox::AddResumed(MemberKey to, const wire::ResumedEntry& resumed) {
  LetterTo(to).resumed.push_back(resumed);
}

void Outbox::AddAnswer(MemberKey to, const wire::AnswerEntry& answer, ConstBufferRef values) {
  Letter& letter = LetterTo(to);
  letter.answers.push_back(answer);
  letter.answers.back().SetWhole(values ? static_cast<std::uint32_t>(values->bytes().size()) : 0);
  letter.values.push_back(std::move(values));
}

void Outbox::Flush(const Sessions& sessions, Inbound& inbound) {
  for (Letter& letter : std::span(letters_).first(used_)) {
    if (const ConnectionId id = sessions.Of(letter.to); id != ConnectionId{}) {
      SendVerdicts(letter, id, inbound);
      SendResumed(letter, id, inbound);
      if (held_.IsFor(letter.to)) {
        HoldAnswers(letter);
      } else {
        SendAnswers(letter, id, inbound);
      }
    }
    letter.verdicts.clear();
    letter.resumed.clear();
    letter.answers.clear();
    letter.values.clear();
  }
  used_ = 0;
  for (const MemberKey to : held_.TakeReady()) {
    if (const ConnectionId id = sessions.Of(to); id != ConnectionId{}) SendHeld(to, id, inbound);
  }
}

void Outbox::HoldAnswers(Letter& letter) {
  for (std::size_t i = 0; i < letter.answers.size(); ++i)
    held_.Hold(letter.to, letter.answers[i], std::move(letter.values[i]));
}

void Outbox::SendHeld(MemberKey to, ConnectionId id, Inbound& inbound) {
  while (held_.TakeFrame(to, answer_bytes_max_, answers_, payload_)) {
    body_.clear();
    wire::Encode(answers_, body_);
    Send(id, wire::Kind::kAnswers, inbound);
  }
}

template <typename Message, typename Entry>
void Outbox::SendInFrames(MemberKey to, std::span<const Entry> left, wire::Kind kind, Message& message,
                          ConnectionId id, Inbound& inbound) {
  message.worker = to.worker;
  message.incarnation = to.incarnation;
  while (!left.empty()) {
    const auto now = left.first(std::min<std::size_t>(left.size(), wire::kEntriesMax));
    message.entries.assign(now.begin(), now.end());
    left = left.subspan(now.size());
    body_.clear();
    wire::Encode(message, body_);
    Send(id, kind, inbound);
  }
}

void Outbox::SendVerdicts(const Letter& letter, ConnectionId id, Inbound& inbound) {
  SendInFrames(letter.to, std::span(letter.verdicts), wire::Kind::kVerdicts, verdicts_, id, inbound);
}

void Outbox::SendResumed(const Letter& letter, ConnectionId id, Inbound& inbound) {
  if (letter.resumed.empty()) return;
  wire::Resumed message;
  SendInFrames(letter.to, std::span(letter.resumed), wire::Kind::kResumed, message, id, inbound);
}

void Outbox::SendAnswers(Letter& letter, ConnectionId id, Inbound& inbound) {
  answers_.worker = letter.to.worker;
  answers_.incarnation = letter.to.incarnation;
  std::size_t at = 0;
  while (at < letter.answers.size()) {
    answers_.entries.clear();
    std::size_t bytes = 0;
    while (at < letter.answers.size() && answers_.entries.size() < wire::kEntriesMax) {
      const std::size_t size = letter.values[at] ? letter.values[at]->bytes().size() : 0;
      if (bytes > 0 && bytes + size > answer_bytes_max_) break;
      answers_.entries.push_back(letter.answers[at]);
      if (ConstBufferRef& values = letter.values[at]; values != nullptr) {
        const std::span<const std::byte> sent = values->bytes();
        payload_.push_back({sent, std::move(values)});
        bytes += size;
      }
      ++at;
    }
    body_.clear();
    wire::Encode(answers_, body_);
    Send(id, wire::Kind::kAnswers, inbound);
  }
}

void Outbox::Send(ConnectionId id, wire::Kind kind, Inbound& inbound) {
  bytes_sent_ += wire::kHeaderBytes + body_.size();
  for (const Pinned& piece : payload_) bytes_sent_ += piece.bytes.size();
  inbound.Send(id, kind, body_, payload_);
  payload_.clear();
}

}  // namespace leeway
