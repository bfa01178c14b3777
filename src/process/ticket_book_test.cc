#include "process/ticket_book.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr TicketBook::Limits kPatient{std::chrono::seconds(60), std::chrono::seconds(60)};
constexpr TicketBook::Limits kHasty{std::chrono::milliseconds(0), std::chrono::milliseconds(1)};
void NoWarning() { ADD_FAILURE() << "warned"; }

TEST(TicketBookTest, AnOutcomeIsTakenOnce) {
  TicketBook book(10);
  const Ticket ticket = book.New();
  EXPECT_FALSE(book.Done(ticket));
  book.Finish(ticket, InvalidArgument("bad"));
  EXPECT_TRUE(book.Done(ticket));
  EXPECT_EQ(book.Wait(ticket, kPatient, NoWarning)->message(), "bad");
  EXPECT_EQ(book.Wait(ticket, kPatient, NoWarning)->code(), StatusCode::kNotFound);
}

TEST(TicketBookTest, ZeroAndUnknownTicketsAreNotFound) {
  TicketBook book(10);
  EXPECT_EQ(book.Wait(0, kPatient, NoWarning)->code(), StatusCode::kNotFound);
  EXPECT_EQ(book.Wait(77, kPatient, NoWarning)->code(), StatusCode::kNotFound);
  EXPECT_TRUE(book.Done(77));
}

TEST(TicketBookTest, AWaitWarnsOnceAndGivesUpButKeepsTheTicket) {
  TicketBook book(10);
  const Ticket ticket = book.New();
  int warnings = 0;
  EXPECT_FALSE(book.Wait(ticket, kHasty, [&] { ++warnings; }).has_value());
  EXPECT_EQ(warnings, 1);
  book.Finish(ticket, Status::Ok());
  EXPECT_TRUE(book.Wait(ticket, kPatient, NoWarning)->ok());
}

TEST(TicketBookTest, AnotherThreadIsWoken) {
  TicketBook book(10);
  const Ticket ticket = book.New();
  std::thread finisher([&] {
    book.Finish(ticket, Status::Ok());
    book.WakeFinished();
  });
  EXPECT_TRUE(book.Wait(ticket, kPatient, NoWarning)->ok());
  finisher.join();
}

TEST(TicketBookTest, OutcomesNobodyAsksForAreForgottenBeyondTheLimit) {
  TicketBook book(2);
  const Ticket first = book.New();
  const Ticket pending = book.New();
  book.Finish(first, Status::Ok());
  for (int i = 0; i < 2; ++i) book.Finish(book.New(), Status::Ok());
  EXPECT_EQ(book.Wait(first, kPatient, NoWarning)->code(), StatusCode::kNotFound);
  EXPECT_FALSE(book.Done(pending)) << "what is under way is never forgotten";
}

TEST(TicketBookTest, AnOutcomeThatAThreadWaitsForIsNotForgotten) {
  TicketBook book(1);
  const Ticket awaited = book.New();
  const Ticket later = book.New();
  std::optional<Status> outcome;
  std::atomic<bool> waits{false};
  std::thread waiter([&] {
    outcome =
        book.Wait(awaited, {std::chrono::milliseconds(0), std::chrono::seconds(60)}, [&] { waits = true; });
  });
  while (!waits) std::this_thread::yield();
  book.Finish(awaited, InvalidArgument("bad"));
  book.Finish(later, Status::Ok());
  book.WakeFinished();
  waiter.join();
  EXPECT_EQ(outcome->message(), "bad");
}

TEST(TicketBookTest, ADroppedTicketLeavesNothing) {
  TicketBook book(10);
  const Ticket ticket = book.New();
  book.Drop(ticket);
  EXPECT_EQ(book.Take(ticket)->code(), StatusCode::kNotFound);
  book.FinishAll(Cancelled("the end"));
  book.Drop(book.New());
}

TEST(TicketBookTest, FinishAllReachesPendingAndLaterTickets) {
  TicketBook book(10);
  const Ticket before = book.New();
  book.FinishAll(Cancelled("the end"));
  EXPECT_EQ(book.Wait(before, kPatient, NoWarning)->code(), StatusCode::kCancelled);
  EXPECT_EQ(book.Wait(book.New(), kPatient, NoWarning)->code(), StatusCode::kCancelled);
}

TEST(TicketBookTest, WhatIsThereIsTakenWithoutAWait) {
  TicketBook book(10);
  const Ticket ticket = book.New();
  EXPECT_FALSE(book.Take(ticket).has_value());
  book.Finish(ticket, Status::Ok());
  EXPECT_TRUE(book.Take(ticket)->ok());
  EXPECT_EQ(book.Take(ticket)->code(), StatusCode::kNotFound);
}

TEST(TicketBookTest, ACallEndsOnce) {
  TicketBook book(10);
  const Ticket ticket = book.New();
  book.Finish(ticket, InvalidArgument("first"));
  book.Finish(ticket, Status::Ok());
  EXPECT_EQ(book.Take(ticket)->message(), "first");
}

TEST(TicketBookTest, AForgottenTicketLeavesNothing) {
  TicketBook book(10);
  const Ticket pending = book.New();
  book.Forget(pending);
  EXPECT_EQ(book.Take(pending)->code(), StatusCode::kNotFound);
  book.Finish(pending, InvalidArgument("bad"));
  EXPECT_EQ(book.Take(pending)->code(), StatusCode::kNotFound);
  const Ticket done = book.New();
  book.Finish(done, InvalidArgument("bad"));
  book.Forget(done);
  EXPECT_EQ(book.Take(done)->code(), StatusCode::kNotFound);
}

TEST(TicketBookTest, AnyNumberOfCallsMayBeUnderWay) {
  TicketBook book(4);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 100; ++i) tickets.push_back(book.New());
  for (const Ticket ticket : tickets) EXPECT_FALSE(book.Done(ticket));
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    EXPECT_FALSE(book.Done(tickets[i]));
    book.Finish(tickets[i], i % 3 == 0 ? InvalidArgument("bad {}", i) : Status::Ok());
    const std::optional<Status> outcome = book.Take(tickets[i]);
    ASSERT_TRUE(outcome.has_value()) << i;
    EXPECT_EQ(outcome->message(), i % 3 == 0 ? fmt::format("bad {}", i) : "");
    EXPECT_EQ(book.Take(tickets[i])->code(), StatusCode::kNotFound);
  }
}

// An outcome that waits is not pushed out by later calls whose outcomes are taken.
TEST(TicketBookTest, AnOutcomeOutlivesAnyNumberOfCallsThatAreTaken) {
  TicketBook book(10);
  const Ticket kept = book.New();
  book.Finish(kept, Status::Ok());
  for (int i = 0; i < 1000; ++i) {
    const Ticket ticket = book.New();
    book.Finish(ticket, Status::Ok());
    EXPECT_TRUE(book.Take(ticket)->ok());
  }
  EXPECT_TRUE(book.Take(kept)->ok());
}

TEST(TicketBookTest, ErrorsNobodyAsksForAreForgottenToo) {
  TicketBook book(2);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 100; ++i) {
    tickets.push_back(book.New());
    book.Finish(tickets.back(), InvalidArgument("bad"));
  }
  int kept = 0;
  for (const Ticket ticket : tickets) kept += book.Take(ticket)->code() == StatusCode::kInvalidArgument;
  EXPECT_EQ(kept, 2);
}

TEST(TicketBookTest, AStoppedWaitKeepsItsTicket) {
  TicketBook book(10);
  const Ticket ticket = book.New();
  int asked = 0;
  EXPECT_FALSE(book.Wait(ticket, kPatient, NoWarning, [&] { return ++asked == 2; }).has_value());
  book.Finish(ticket, Status::Ok());
  EXPECT_TRUE(book.Take(ticket)->ok());
}

// One thread begins and waits in a window, another ends the calls.
TEST(TicketBookTest, AWindowOfCallsPassesBetweenTwoThreads) {
  constexpr std::size_t kCalls = 30'000;
  constexpr std::size_t kWindow = 32;
  TicketBook book(40);
  std::vector<std::atomic<Ticket>> begun(kCalls);
  std::thread node([&] {
    for (std::size_t at = 0; at < kCalls;) {
      const std::size_t turn = at;
      for (; at < kCalls && begun[at].load(std::memory_order_acquire) != 0; ++at) {
        const Ticket ticket = begun[at].load(std::memory_order_relaxed);
        book.Finish(ticket, at % 5 == 0 ? InvalidArgument("bad") : Status::Ok());
      }
      if (turn == at) std::this_thread::yield();
      book.WakeFinished();
    }
  });
  for (std::size_t taken = 0, next = 0; taken < kCalls; ++taken) {
    for (; next < kCalls && next < taken + kWindow; ++next) {
      begun[next].store(book.New(), std::memory_order_release);
    }
    const std::optional<Status> outcome =
        book.Wait(begun[taken].load(std::memory_order_relaxed), kPatient, NoWarning);
    ASSERT_TRUE(outcome.has_value());
    ASSERT_EQ(outcome->code(), taken % 5 == 0 ? StatusCode::kInvalidArgument : StatusCode::kOk) << taken;
  }
  node.join();
}

TEST(TicketBookTest, TheEndWakesEverySleeper) {
  TicketBook book(2);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 6; ++i) tickets.push_back(book.New());
  std::vector<std::thread> sleepers;
  for (const Ticket ticket : tickets) {
    sleepers.emplace_back([&book, ticket] {
      EXPECT_EQ(book.Wait(ticket, kPatient, NoWarning)->code(), StatusCode::kCancelled);
    });
  }
  book.FinishAll(Cancelled("the end"));
  for (std::thread& sleeper : sleepers) sleeper.join();
}

}  // namespace
}  // namespace leeway
