#include "node/server/outbox.h"

#include <algorithm>
#include <utility>

#include "wire/frame.h"

namespace leeway {
namespace {

// A frame that has begun holds up more urgent frames. Smaller frames cost more than they gain: 256 KiB take
// 2 ms at 1 Gbit/s.
constexpr std::uint64_t kPriorityBytesMax = 256 * 1024;

}  // namespace

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

void Outbox::AddAnswer(MemberKey to, const wire::AnswerEntry& answer, ConstBufferRef values,
                       std::optional<std::uint8_t> priority) {
  std::vector<Answer>& answers = LetterTo(to).answers;
  answers.push_back({answer, std::move(values), priority});
  Answer& added = answers.back();
  added.entry.SetWhole(added.values ? static_cast<std::uint32_t>(added.values->bytes().size()) : 0);
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
  }
  used_ = 0;
  for (const MemberKey to : held_.TakeReady()) {
    if (const ConnectionId id = sessions.Of(to); id != ConnectionId{}) SendHeld(to, id, inbound);
  }
}

void Outbox::HoldAnswers(Letter& letter) {
  for (Answer& answer : letter.answers) held_.Hold(letter.to, answer.entry, std::move(answer.values));
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
    named_.clear();
    for (const Entry& entry : now) named_.push_back(entry.block);
    body_.clear();
    wire::Encode(message, body_);
    Send(id, kind, inbound, {FrameOrder::Kind::kVerdicts, 0, named_});
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
  std::ranges::stable_sort(letter.answers, {}, &Answer::priority);
  for (std::span<Answer> left(letter.answers); !left.empty();) {
    answers_.entries.clear();
    named_.clear();
    const std::optional<std::uint8_t> priority = left.front().priority;
    const std::uint64_t bytes_max =
        priority ? std::min(answer_bytes_max_, kPriorityBytesMax) : answer_bytes_max_;
    std::uint64_t bytes = 0;
    std::size_t taken = 0;
    for (; taken < std::min<std::size_t>(left.size(), wire::kEntriesMax); ++taken) {
      Answer& answer = left[taken];
      const std::uint64_t size = answer.entry.payload_bytes;
      if ((bytes > 0 && bytes + size > bytes_max) || answer.priority.has_value() != priority.has_value())
        break;
      answers_.entries.push_back(answer.entry);
      named_.push_back(answer.entry.block);
      if (answer.values == nullptr) continue;
      const std::span<const std::byte> sent = answer.values->bytes();
      payload_.push_back({sent, std::move(answer.values)});
      bytes += size;
    }
    left = left.subspan(taken);
    body_.clear();
    wire::Encode(answers_, body_);
    FrameOrder order;
    if (priority) order = {FrameOrder::Kind::kByPriority, *priority, named_};
    Send(id, wire::Kind::kAnswers, inbound, order);
  }
}

void Outbox::Send(ConnectionId id, wire::Kind kind, Inbound& inbound, const FrameOrder& order) {
  bytes_sent_ += wire::kHeaderBytes + body_.size();
  for (const Pinned& piece : payload_) bytes_sent_ += piece.bytes.size();
  inbound.Send(id, kind, body_, payload_, order);
  payload_.clear();
}

}  // namespace leeway
