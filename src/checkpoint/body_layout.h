// The layout of a record's body, defined once. Fields functions visit the fields in the order of their bytes;
// writing, reading and measuring are three visitors. Packed, little-endian; a list is a u32 count and its
// entries. The body holds only the number of buffers; the payload holds the buffers.
//
// Only block_record.cc includes this file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/byte_cursor.h"
#include "base/errors.h"
#include "checkpoint/block_record.h"

namespace leeway::body {

inline constexpr std::uint32_t kSlotsMax = 64;

class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}
  template <typename T>
  void operator()(const T& field) {
    out_.Write(field);
  }

 private:
  ByteWriter out_;
};

// Checks every length before use. After the first error it gives zeros and empty lists.
class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(std::span<const std::byte> bytes) : in_(bytes) {}
  template <typename T>
  void operator()(T& field) {
    field = in_.Read<T>();
  }
  // A bool with a value other than 0 or 1 is undefined behaviour, so the reader checks the byte first.
  void operator()(bool& field) {
    const auto value = in_.Read<std::uint8_t>();
    if (value > 1) Refuse(InvalidArgument("a bool: got {}, wanted 0 or 1", value));
    field = value != 0;
  }
  void operator()(Verdict& field) {
    const auto value = in_.Read<std::uint8_t>();
    field = static_cast<Verdict>(value);
    // 0 is the verdict of a sequence number that was not used.
    if (value != 0 && !IsVerdict(field)) {
      Refuse(InvalidArgument("a verdict: got {}, wanted one that is known", value));
    }
  }
  // The length of a list whose entries take at least `entry_bytes` each.
  std::uint32_t Count(const char* what, std::size_t entry_bytes) {
    const auto count = in_.Read<std::uint32_t>();
    if (count <= in_.left() / entry_bytes) return count;
    Refuse(InvalidArgument("{}: got {} entries of {} bytes or more in {} bytes", what, count, entry_bytes,
                           in_.left()));
    return 0;
  }
  void Refuse(Status problem) {
    if (problem_.ok()) problem_ = std::move(problem);
  }
  // At most three zeros may be left, up to a multiple of four.
  Status Finish() {
    if (!in_.ok()) Refuse(InvalidArgument("the body ends too early"));
    if (in_.left() > 3) Refuse(InvalidArgument("{} bytes are left over in the body", in_.left()));
    while (problem_.ok() && in_.left() > 0) {
      if (in_.Read<std::uint8_t>() != 0) Refuse(InvalidArgument("the padding of the body is not zero"));
    }
    return problem_;
  }

 private:
  ByteReader in_;
  Status problem_;
};

class Measure {
 public:
  static constexpr bool kReads = false;
  template <typename T>
  void operator()(const T&) {
    bytes_ += sizeof(T);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

template <typename Visitor, typename T>
using As = std::conditional_t<Visitor::kReads, T, const T>;

template <typename Visitor>
void Fields(Visitor& visit, As<Visitor, Iteration>& i) {
  visit(i);
}
template <typename Visitor>
void Fields(Visitor& visit, As<Visitor, char>& c) {
  visit(c);
}
template <typename Visitor>
void Fields(Visitor& visit, As<Visitor, MemberKey>& m) {
  visit(m.worker), visit(m.incarnation);
}
template <typename Visitor>
void Fields(Visitor& visit, As<Visitor, LedgerState>& l) {
  Fields(visit, l.member), visit(l.last);
  for (auto& verdict : l.verdicts) visit(verdict);
}
template <typename Visitor>
void Fields(Visitor& visit, As<Visitor, LifeState>& l) {
  Fields(visit, l.key), visit(l.first), visit(l.progress), visit(l.live), visit(l.silent);
}
template <typename Visitor>
void Fields(Visitor& visit, As<Visitor, ContributionState>& c) {
  Fields(visit, c.from), visit(c.seq), visit(c.weight);
}

// The least size of a list's entry: all its fields without the entries of inner lists.
template <typename Entry>
std::size_t EntryBytesMin();

template <typename Visitor, typename List>
void Entries(Visitor& visit, const char* what, List& list) {
  if constexpr (Visitor::kReads) {
    list.resize(visit.Count(what, EntryBytesMin<typename List::value_type>()));
  } else {
    visit(static_cast<std::uint32_t>(list.size()));
  }
  for (auto& entry : list) Fields(visit, entry);
}

template <typename Visitor>
void Fields(Visitor& visit, As<Visitor, OpenSumState>& s) {
  visit(s.iteration), visit(s.samples), visit(s.contributors), visit(s.steps);
  Fields(visit, s.chosen), visit(s.chosen_seq);
  visit(s.hyper.lr), visit(s.hyper.weight_decay), visit(s.hyper.momentum);
  visit(s.hyper.beta2), visit(s.hyper.eps), visit(s.hyper.dampening);
  visit(s.hyper_mismatch);
  Entries(visit, "contributions", s.contributions);
}

template <typename Entry>
std::size_t EntryBytesMin() {
  Measure measure;
  Fields(measure, Entry{});
  return measure.bytes();
}

template <typename Visitor>
void Slots(Visitor& visit, As<Visitor, std::vector<ConstBufferRef>>& slots) {
  auto count = static_cast<std::uint32_t>(slots.size());
  visit(count);
  if constexpr (Visitor::kReads) {
    if (count > kSlotsMax)
      visit.Refuse(InvalidArgument("slots: got {}, wanted at most {}", count, kSlotsMax));
    slots.resize(std::min(count, kSlotsMax));
  }
}

template <typename Visitor>
void Fields(Visitor& visit, As<Visitor, BlockRecord>& r) {
  visit(r.id.block), visit(r.id.table), visit(r.id.offset), visit(r.id.elements), visit(r.id.term);
  visit(r.state.version), visit(r.state.steps), Slots(visit, r.state.slots);
  auto& progress = r.state.progress;
  visit(progress.v_train), visit(progress.highest_sent), visit(progress.untouched);
  visit(progress.taken);
  Entries(visit, "lives", progress.lives);
  Entries(visit, "ended_firsts", progress.ended_firsts);
  Entries(visit, "ended_lasts", progress.ended_lasts);
  Entries(visit, "ledger", r.state.ledger);
  Entries(visit, "sums", r.state.sums);
  Entries(visit, "memory", r.state.memory);
}

}  // namespace leeway::body
