#include "wire/messages.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/errors.h"
#include "wire/kind.h"

namespace leeway::wire {
namespace {

// Each layout is written down once, as a Fields function that visits the fields in the order of their bytes;
// writing, reading and measuring are three visitors. Every head begins with worker, incarnation and the
// number of entries. Heads and entries have multiples of 8 bytes; bytes between their fields are 0.

class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(std::byte* at) : at_(at) {}
  template <typename T>
  void operator()(const T& field) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(at_, &field, sizeof(T));
    at_ += sizeof(T);
  }
  void Pad(std::size_t bytes) {
    std::memset(at_, 0, bytes);
    at_ += bytes;
  }

 private:
  std::byte* at_;
};

// Unchecked: the caller has seen that the bytes are there.
class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(const std::byte* at) : at_(at) {}
  template <typename T>
  void operator()(T& field) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&field, at_, sizeof(T));
    at_ += sizeof(T);
  }
  void Pad(std::size_t bytes) {
    for (const std::byte pad : std::span(at_, bytes)) padding_ |= pad;
    at_ += bytes;
  }
  // All padding so far, or-ed: 0 in what a correct peer sends.
  [[nodiscard]] std::uint8_t padding() const { return std::to_integer<std::uint8_t>(padding_); }

 private:
  std::byte padding_{0};
  const std::byte* at_;
};

class Measure {
 public:
  static constexpr bool kReads = false;
  template <typename T>
  constexpr void operator()(const T&) {
    bytes_ += sizeof(T);
  }
  constexpr void Pad(std::size_t bytes) { bytes_ += bytes; }
  [[nodiscard]] constexpr std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

template <typename Visitor, typename T>
using As = std::conditional_t<Visitor::kReads, T, const T>;

template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, InitEntry>& e) {
  visit(e.block), visit(e.term), visit(e.payload_bytes), visit.Pad(4);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, PushEntry>& e) {
  visit(e.block), visit(e.term), visit(e.seq), visit(e.base_version);
  visit(e.payload_bytes), visit(e.offset), visit(e.total), visit(e.format), visit.Pad(2);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, AbsentEntry>& e) {
  visit(e.block), visit(e.term), visit(e.seq), visit(e.flags), visit.Pad(7);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, ResumeEntry>& e) {
  visit(e.block), visit(e.term), visit(e.next);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, ResumedEntry>& e) {
  visit(e.block), visit(e.term), visit(e.last), visit(e.v_train);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, VerdictEntry>& e) {
  visit(e.block), visit(e.term), visit(e.seq), visit(e.v_train);
  visit(e.owner), visit(e.owner_term), visit(e.verdict), visit.Pad(7);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, PullEntry>& e) {
  visit(e.block), visit(e.term), visit(e.progress), visit(e.cached_version), visit(e.held_view);
  visit(e.ask), visit(e.significance), visit(e.priority), visit(e.flags), visit.Pad(6);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, AnswerEntry>& e) {
  visit(e.block), visit(e.term), visit(e.v_train), visit(e.version), visit(e.view), visit(e.base);
  visit(e.mean), visit(e.ask), visit(e.held_us), visit(e.held_for);
  visit(e.payload_bytes), visit(e.offset), visit(e.total), visit(e.format), visit(e.content), visit.Pad(5);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, AssignEntry>& e) {
  visit(e.block), visit(e.term), visit(e.seq), visit(e.base_version), visit(e.steps);
  visit(e.payload_bytes), visit(e.array), visit.Pad(3);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, ReadEntry>& e) {
  visit(e.block), visit(e.term), visit(e.cached_version);
}
template <typename Visitor>
constexpr void Fields(Visitor& visit, As<Visitor, ArraysEntry>& e) {
  visit(e.block), visit(e.term), visit(e.version), visit(e.steps);
  visit(e.payload_bytes), visit(e.array), visit(e.arrays), visit.Pad(2);
}

// The fields after the three common ones of a head.
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Init>&) {
  visit.Pad(4);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Push>& m) {
  visit(m.samples), visit(m.iteration), visit(m.steps);
  visit(m.hyper.lr), visit(m.hyper.weight_decay), visit(m.hyper.momentum);
  visit(m.hyper.beta2), visit(m.hyper.eps), visit(m.hyper.dampening);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Absent>& m) {
  visit.Pad(4), visit(m.iteration);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Resume>&) {
  visit.Pad(4);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Resumed>&) {
  visit.Pad(4);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Verdicts>&) {
  visit.Pad(4);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Pull>& m) {
  visit(m.flags), visit.Pad(3), visit(m.epoch_min);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Answers>&) {
  visit.Pad(4);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Assign>&) {
  visit.Pad(4);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Read>& m) {
  visit(m.what), visit.Pad(3), visit(m.request);
}
template <typename Visitor>
constexpr void HeadFields(Visitor& visit, As<Visitor, Arrays>& m) {
  visit.Pad(4), visit(m.request);
}

constexpr Kind KindOf(const Init&) { return Kind::kInit; }
constexpr Kind KindOf(const Push&) { return Kind::kPush; }
constexpr Kind KindOf(const Absent&) { return Kind::kAbsent; }
constexpr Kind KindOf(const Verdicts&) { return Kind::kVerdicts; }
constexpr Kind KindOf(const Pull&) { return Kind::kPull; }
constexpr Kind KindOf(const Answers&) { return Kind::kAnswers; }
constexpr Kind KindOf(const Assign&) { return Kind::kAssign; }
constexpr Kind KindOf(const Read&) { return Kind::kRead; }
constexpr Kind KindOf(const Arrays&) { return Kind::kArrays; }
constexpr Kind KindOf(const Resume&) { return Kind::kResume; }
constexpr Kind KindOf(const Resumed&) { return Kind::kResumed; }

template <typename Message>
constexpr std::size_t HeadBytes() {
  const Message message{};
  Measure measure;
  measure(message.worker), measure(message.incarnation), measure(std::uint32_t{});
  HeadFields(measure, message);
  return measure.bytes();
}

template <typename Entry>
constexpr std::size_t EntryBytes() {
  Measure measure;
  Fields(measure, Entry{});
  return measure.bytes();
}

// A field that no correct peer sends; all fields are right if `field` is null. Trivial, so that checking a
// right message costs little more than its comparisons (with an optional of strings a decode took four times
// as long).
struct Wrong {
  const char* field = nullptr;
  const char* wanted = nullptr;
  std::int64_t got = 0;
  float got_float = 0.0F;
  bool is_float = false;

  explicit operator bool() const { return field != nullptr; }
  [[nodiscard]] std::string ToString() const {
    const std::string text = is_float ? fmt::to_string(got_float) : fmt::to_string(got);
    return fmt::format("{}: got {}, wanted {}", field, text, wanted);
  }
};

Wrong CheckIteration(const char* field, Iteration iteration, std::int64_t lowest) {
  if (iteration.value() >= lowest && iteration <= kIterationWireMax) return {};
  return {field, lowest == 0 ? "0 to 2^62" : "-1 to 2^62", iteration.value()};
}
Wrong CheckFinite(const char* field, float value) {
  if (std::isfinite(value)) return {};
  return {field, "a finite number", 0, value, true};
}
Wrong CheckSeq(Seq seq) {
  if (seq != Seq{}) return {};
  return {"seq", "at least 1", 0};
}
// Of an entry of a push or an answer: its format, and that it is a whole block.
template <typename Entry>
Wrong CheckPiece(const Entry& e) {
  if (e.format != Format::kFloat32) return {"format", "1 (float32)", static_cast<std::int64_t>(e.format)};
  if (e.offset != 0) return {"offset", "0 (the whole block)", e.offset};
  if (e.total != e.payload_bytes) return {"total", "as many as payload_bytes (the whole block)", e.total};
  return {};
}
// A field of a feature that no node of this version has.
Wrong CheckView(const char* field, View view) {
  if (view == View(0)) return {};
  return {field, "0 (no views in this version)", static_cast<std::int64_t>(view.value())};
}

Wrong Check(const InitEntry&) { return {}; }
Wrong Check(const PushEntry& e) {
  if (Wrong wrong = CheckSeq(e.seq)) return wrong;
  return CheckPiece(e);
}
Wrong Check(const AbsentEntry& e) {
  if (Wrong wrong = CheckSeq(e.seq)) return wrong;
  if ((e.flags & ~AbsentEntry::kFlags) == 0) return {};
  return {"flags", "0 or 1 (idle)", e.flags};
}
Wrong Check(const VerdictEntry& e) {
  if (!IsVerdict(e.verdict)) return {"verdict", "1-6 or 16-20", static_cast<std::int64_t>(e.verdict)};
  if (e.owner != kNoShard) {
    return {"owner", "4294967295 (nobody: the scheduler says who has the block)", e.owner.value()};
  }
  if (e.owner_term != Term(0)) return {"owner_term", "0 (without an owner)", e.owner_term.value()};
  return CheckIteration("v_train", e.v_train, -1);
}
Wrong Check(const ResumeEntry& e) { return CheckIteration("next", e.next, 0); }
Wrong Check(const ResumedEntry& e) { return CheckIteration("v_train", e.v_train, -1); }
Wrong CheckAsk(Ask ask) {
  if (ask != Ask(0)) return {};
  return {"ask", "at least 1", 0};
}
Wrong Check(const PullEntry& e) {
  if (Wrong wrong = CheckIteration("progress", e.progress, -1)) return wrong;
  if (Wrong wrong = CheckAsk(e.ask)) return wrong;
  if (Wrong wrong = CheckView("held_view", e.held_view)) return wrong;
  if (e.flags != 0) return {"flags", "0 (neither 1, at once, nor 2, full, in this version)", e.flags};
  return CheckFinite("significance", e.significance);
}
Wrong CheckContent(const AnswerEntry& e) {
  const auto content = static_cast<std::int64_t>(e.content);
  const bool has_bytes = e.payload_bytes > 0;
  switch (e.content) {
    case AnswerEntry::Content::kBytes:
      if (has_bytes) return {};
      return {"content", "2 (unchanged) without payload_bytes", content};
    case AnswerEntry::Content::kUnchanged:
      if (!has_bytes) return {};
      return {"content", "1 (bytes) with payload_bytes", content};
    case AnswerEntry::Content::kNoGradient:
      if (has_bytes) return {"content", "1 (bytes) with payload_bytes", content};
      if (e.mean >= Iteration(0)) return {};
      return {"mean", "at least 0 with content 3 (no gradient)", e.mean.value()};
    default:
      return {"content", "1 (bytes), 2 (unchanged) or 3 (no gradient)", content};
  }
}
Wrong Check(const AnswerEntry& e) {
  if (Wrong wrong = CheckAsk(e.ask)) return wrong;
  if (Wrong wrong = CheckIteration("v_train", e.v_train, -1)) return wrong;
  if (Wrong wrong = CheckView("view", e.view)) return wrong;
  if (Wrong wrong = CheckView("base", e.base)) return wrong;
  if (Wrong wrong = CheckIteration("mean", e.mean, -1)) return wrong;
  if (Wrong wrong = CheckContent(e)) return wrong;
  return CheckPiece(e);
}
Wrong CheckArray(const char* field, std::uint8_t array) {
  if (array <= kArrayMax) return {};
  return {field, "0 to 8", array};
}
Wrong Check(const AssignEntry& e) {
  if (Wrong wrong = CheckSeq(e.seq)) return wrong;
  return CheckArray("array", e.array);
}
Wrong Check(const ReadEntry&) { return {}; }
Wrong Check(const ArraysEntry& e) {
  if (Wrong wrong = CheckArray("array", e.array)) return wrong;
  if (Wrong wrong = CheckArray("arrays", e.arrays)) return wrong;
  if ((e.arrays == 0) == (e.payload_bytes == 0)) return {};
  return {"payload_bytes", e.arrays == 0 ? "0 if arrays is 0" : "some if arrays is above 0", e.payload_bytes};
}

template <typename Message>
Wrong CheckHead(const Message&) {
  return {};
}
Wrong CheckHead(const Read& m) {
  if (m.what == ReadWhat::kValues || m.what == ReadWhat::kState) return {};
  return {"what", "1 (values) or 2 (state)", static_cast<std::int64_t>(m.what)};
}
Wrong CheckHead(const Pull& m) {
  if ((m.flags & ~Pull::kFlags) == 0) return {};
  return {"flags", "0 to 7 (1: observer, 2: newest only, 4: by priority)", m.flags};
}
Wrong CheckHead(const Absent& m) { return CheckIteration("iteration", m.iteration, 0); }
Wrong CheckHead(const Push& m) {
  if (Wrong wrong = CheckIteration("iteration", m.iteration, 0)) return wrong;
  if (Wrong wrong = CheckFinite("lr", m.hyper.lr)) return wrong;
  if (Wrong wrong = CheckFinite("weight_decay", m.hyper.weight_decay)) return wrong;
  if (Wrong wrong = CheckFinite("momentum", m.hyper.momentum)) return wrong;
  if (Wrong wrong = CheckFinite("beta2", m.hyper.beta2)) return wrong;
  if (Wrong wrong = CheckFinite("eps", m.hyper.eps)) return wrong;
  return CheckFinite("dampening", m.hyper.dampening);
}

}  // namespace

template <typename Message>
void Encode(const Message& message, std::vector<std::byte>& body) {
  using Entry = typename decltype(message.entries)::value_type;
  constexpr std::size_t kEntryBytes = EntryBytes<Entry>();
  const std::size_t begin = body.size();
  body.resize(begin + HeadBytes<Message>() + message.entries.size() * kEntryBytes);
  Writer write(body.data() + begin);
  write(message.worker), write(message.incarnation),
      write(static_cast<std::uint32_t>(message.entries.size()));
  HeadFields(write, message);
  for (const Entry& entry : message.entries) Fields(write, entry);
}

template <typename Message>
Status Decode(std::span<const std::byte> body, std::uint64_t payload_bytes, Message& out) {
  using Entry = typename decltype(out.entries)::value_type;
  constexpr std::size_t kHeadBytes = HeadBytes<Message>();
  constexpr std::size_t kEntryBytes = EntryBytes<Entry>();
  static_assert(kHeadBytes % 8 == 0 && kEntryBytes % 8 == 0);
  const std::string_view kind = KindName(KindOf(out));
  if (body.size() < kHeadBytes) {
    return Protocol("{}: got a body of {} bytes, wanted at least {}", kind, body.size(), kHeadBytes);
  }
  Reader read(body.data());
  std::uint32_t count = 0;
  read(out.worker), read(out.incarnation), read(count);
  HeadFields(read, out);
  if (const Wrong wrong = CheckHead(out)) {
    return Protocol("{} of worker {}: {}", kind, out.worker.value(), wrong.ToString());
  }
  if (read.padding() != 0) {
    return Protocol("{} of worker {}: padding: got {}, wanted 0", kind, out.worker.value(), read.padding());
  }
  if (count > kEntriesMax) return Protocol("{}: got {} entries, wanted at most {}", kind, count, kEntriesMax);
  if (body.size() - kHeadBytes != count * kEntryBytes) {
    return Protocol("{}: got {} bytes after the head, wanted {} for {} entries", kind,
                    body.size() - kHeadBytes, count * kEntryBytes, count);
  }

  out.entries.resize(count);
  std::uint64_t announced_bytes = 0;  // at most kEntriesMax times 2^32
  for (Entry& entry : out.entries) {
    Fields(read, entry);
    Wrong wrong = Check(entry);
    if (!wrong && read.padding() != 0) wrong = {"padding", "0", read.padding()};
    if (wrong) {
      return Protocol("{} of worker {}: entry {} (block {}): {}", kind, out.worker.value(),
                      &entry - out.entries.data(), entry.block.value(), wrong.ToString());
    }
    if constexpr (requires { entry.payload_bytes; }) announced_bytes += entry.payload_bytes;
  }
  if (announced_bytes != payload_bytes) {
    return Protocol("{} of worker {}: got a payload of {} bytes, wanted the {} that its entries announce",
                    kind, out.worker.value(), payload_bytes, announced_bytes);
  }
  return Status::Ok();
}

#define LW_DATA_MESSAGE(Message)                                 \
  template void Encode(const Message&, std::vector<std::byte>&); \
  template Status Decode(std::span<const std::byte>, std::uint64_t, Message&);
LW_DATA_MESSAGE(Init)
LW_DATA_MESSAGE(Push)
LW_DATA_MESSAGE(Absent)
LW_DATA_MESSAGE(Verdicts)
LW_DATA_MESSAGE(Pull)
LW_DATA_MESSAGE(Answers)
LW_DATA_MESSAGE(Assign)
LW_DATA_MESSAGE(Read)
LW_DATA_MESSAGE(Arrays)
LW_DATA_MESSAGE(Resume)
LW_DATA_MESSAGE(Resumed)
#undef LW_DATA_MESSAGE

}  // namespace leeway::wire
