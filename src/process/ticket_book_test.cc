#include "process/ticket_book.h"

#include <gtest/gtest.h>

#include <thread>

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
  std::thread finisher([&] { book.Finish(ticket, Status::Ok()); });
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

TEST(TicketBookTest, FinishAllReachesPendingAndLaterTickets) {
  TicketBook book(10);
  const Ticket before = book.New();
  book.FinishAll(Cancelled("the end"));
  EXPECT_EQ(book.Wait(before, kPatient, NoWarning)->code(), StatusCode::kCancelled);
  EXPECT_EQ(book.Wait(book.New(), kPatient, NoWarning)->code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace leeway
