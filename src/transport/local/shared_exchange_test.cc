// Two ends of a local connection in one process, with nothing between them but what they hand each other.
#include "transport/local/shared_exchange.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

namespace leeway {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kSmallBytes = 4096;

struct ExchangeEnd {
  SharedArena arena;
  std::optional<SharedExchange> exchange;
  explicit ExchangeEnd(std::uint64_t session) { exchange.emplace(HostKey{}, arena, session, 1ULL << 40); }

  void Take(const std::vector<SharedExchange::Note>& notes) {
    for (const SharedExchange::Note& note : notes) {
      if (note.fd >= 0) exchange->TakeDescriptor(Descriptor(fcntl(note.fd, F_DUPFD_CLOEXEC, 0)));
      const Status taken = exchange->OnNote(note.kind, note.body);
      EXPECT_TRUE(taken.ok()) << taken.ToString();
    }
  }
};

class SharedExchangeTest : public ::testing::Test {
 protected:
  void Greet() {
    b.Take(*a.exchange->Greet());
    a.Take(*b.exchange->Greet());
    ASSERT_TRUE(a.exchange->ready() && b.exchange->ready());
  }
  // From a to b: the pieces as b sees them.
  std::vector<std::span<const std::byte>> Carry(const std::vector<Pinned>& payload) {
    std::vector<SharedExchange::Note> notes;
    std::vector<std::byte> body;
    std::uint64_t bytes = 0;
    for (const Pinned& piece : payload) bytes += piece.bytes.size();
    EXPECT_TRUE(a.exchange->Refer(payload, notes, body));
    last_notes = notes.size();
    b.Take(notes);
    std::span<const std::byte> rest = body;
    std::vector<std::span<const std::byte>> views;
    const Status resolved = b.exchange->Resolve(rest, bytes, views);
    EXPECT_TRUE(resolved.ok()) << resolved.ToString();
    EXPECT_TRUE(rest.empty());
    return views;
  }

  ExchangeEnd a{11}, b{22};
  std::size_t last_notes = 0;
};

TEST_F(SharedExchangeTest, APieceIsTheSameMemoryAndPinnedUntilItIsDoneWith) {
  Greet();
  std::shared_ptr<std::byte> memory = a.arena.Allocate(kSmallBytes, Arena::Use::kSent);
  const auto views = Carry({{{memory.get(), kSmallBytes}, memory}});
  memory.get()[7] = std::byte{9};
  ASSERT_EQ(views.size(), 1U);
  EXPECT_EQ(views[0][7], std::byte{9});
  EXPECT_EQ(memory.use_count(), 2);
  EXPECT_FALSE(a.exchange->Collect());
  EXPECT_EQ(a.exchange->pinned_bytes(), kSmallBytes);
  b.exchange->Consumed();
  EXPECT_TRUE(a.exchange->Collect());
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(a.exchange->pinned_bytes(), 0U);
}

TEST_F(SharedExchangeTest, ARegionThatIsAddedLaterIsAnnouncedBeforeItIsUsedAndOnce) {
  Greet();
  const std::shared_ptr<std::byte> large = a.arena.Allocate(std::size_t{1} << 29, Arena::Use::kSent);
  const std::vector<Pinned> payload = {{{large.get(), kSmallBytes}, large}};
  large.get()[0] = std::byte{3};
  EXPECT_EQ(Carry(payload)[0][0], std::byte{3});
  EXPECT_EQ(last_notes, 1U);
  Carry(payload);
  EXPECT_EQ(last_notes, 0U);
}

TEST_F(SharedExchangeTest, WhatLiesElsewhereIsNotReferredTo) {
  Greet();
  const std::shared_ptr<std::byte> in = a.arena.Allocate(kSmallBytes, Arena::Use::kSent);
  const std::vector<std::byte> out(kSmallBytes);
  std::vector<SharedExchange::Note> notes;
  std::vector<std::byte> body;
  const std::vector<Pinned> payload = {{{in.get(), kSmallBytes}, in}, {out, nullptr}};
  EXPECT_FALSE(a.exchange->Refer(payload, notes, body));
  EXPECT_EQ(in.use_count(), 2) << "in the payload, and nowhere else";
  EXPECT_TRUE(notes.empty() && body.empty());
}

TEST_F(SharedExchangeTest, TheEndOfASenderIsSeenByWhoReads) {
  Greet();
  const Witness witness = b.exchange->witness();
  EXPECT_TRUE(witness.Holds());
  a.exchange.reset();
  EXPECT_FALSE(witness.Holds());
}

TEST_F(SharedExchangeTest, MoreGivenBackThanWasSentBreaksIt) {
  Greet();
  const std::shared_ptr<std::byte> memory = a.arena.Allocate(kSmallBytes, Arena::Use::kSent);
  for (int i = 0; i < 2; ++i) Carry({{{memory.get(), kSmallBytes}, memory}});
  for (int i = 0; i < 2; ++i) b.exchange->Consumed();
  EXPECT_TRUE(a.exchange->Collect());
  EXPECT_TRUE(a.exchange->broken().ok());
  Carry({{{memory.get(), kSmallBytes}, memory}});
  for (int i = 0; i < 5; ++i) b.exchange->Consumed();
  EXPECT_TRUE(a.exchange->Collect());
  EXPECT_THAT(a.exchange->broken().message(), HasSubstr("done with 7 shared payloads, wanted at most the 3"));
  EXPECT_EQ(memory.use_count(), 1);
}

TEST_F(SharedExchangeTest, MoreDescriptorsThanNotesBreakIt) {
  for (int i = 0; i < 64; ++i) {
    b.exchange->TakeDescriptor(Descriptor());
    EXPECT_TRUE(b.exchange->broken().ok()) << i;
  }
  b.exchange->TakeDescriptor(Descriptor());
  EXPECT_THAT(b.exchange->broken().message(), HasSubstr("more than 64 descriptors"));
}

TEST_F(SharedExchangeTest, ANoteOfNoKnownKindIsAnError) {
  EXPECT_THAT(b.exchange->OnNote(NoteKind{9}, {}).message(), HasSubstr("note of kind 9"));
  EXPECT_FALSE(b.exchange->ready());
}

}  // namespace
}  // namespace leeway
