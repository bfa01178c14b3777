#include "leeway/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr int kCodes = static_cast<int>(StatusCode::kCancelled) + 1;

TEST(StatusTest, OkIsTheDefaultAndPrintsAsOk) {
  EXPECT_TRUE(Status().ok());
  EXPECT_TRUE(Status::Ok().ok());
  EXPECT_EQ(Status().ToString(), "ok");
}

TEST(StatusTest, AnErrorPrintsItsCodeAndMessage) {
  EXPECT_EQ(NotFound("no table \"{}\"", "w").ToString(), "not found: no table \"w\"");
}

TEST(StatusTest, CopiesAreOfTheirOwnAndOkHasNoMessage) {
  EXPECT_EQ(Status().message(), "");
  Status first = NotFound("no table");
  const Status second = first;
  first = Protocol("bad magic");
  EXPECT_EQ(second.ToString(), "not found: no table");
  EXPECT_EQ(first.ToString(), "protocol error: bad magic");
  first = second;
  EXPECT_EQ(first.ToString(), second.ToString());
  const Status& same = first;
  first = same;
  EXPECT_EQ(first.ToString(), "not found: no table");
  const Status moved = std::move(first);
  EXPECT_EQ(moved.ToString(), "not found: no table");
}

TEST(StatusTest, EveryCodeHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int code = 0; code < kCodes; ++code) names.insert(StatusCodeName(static_cast<StatusCode>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kCodes));
  EXPECT_EQ(StatusCodeName(StatusCode{200}), "unknown error");
}

TEST(StatusTest, ContextGoesBeforeTheMessageAndKeepsTheCode) {
  const Status status = Protocol("bad magic").WithContext("server 1").WithContext("job x");
  EXPECT_EQ(status.code(), StatusCode::kProtocol);
  EXPECT_EQ(status.message(), "job x: server 1: bad magic");
  EXPECT_TRUE(Status::Ok().WithContext("server 1").ok());
}

TEST(StatusTest, ExitCodesTellPermanentErrorsFromThoseWorthRetrying) {
  const std::set<StatusCode> worth_retrying = {StatusCode::kUnavailable, StatusCode::kDeadlineExceeded,
                                               StatusCode::kFenced, StatusCode::kCancelled};
  std::set<int> exit_codes;
  for (int i = 0; i < kCodes; ++i) {
    const auto code = static_cast<StatusCode>(i);
    const int exit_code = ExitCode(Status(code, "x"));
    exit_codes.insert(exit_code);
    EXPECT_EQ(exit_code == 0, code == StatusCode::kOk);
    EXPECT_EQ(exit_code >= 128, worth_retrying.contains(code)) << StatusCodeName(code);
    EXPECT_LT(exit_code, 256);
  }
  EXPECT_EQ(exit_codes.size(), static_cast<std::size_t>(kCodes)) << "two codes share an exit code";
}

Result<int> Half(int n) {
  if (n % 2 != 0) return InvalidArgument("got {}, wanted an even number", n);
  return n / 2;
}
Result<int> Quarter(int n) {
  LW_ASSIGN_OR_RETURN(const int half, Half(n));
  LW_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}
Status CheckQuarter(int n) {
  LW_RETURN_IF_ERROR(Quarter(n).status());
  return Status::Ok();
}

TEST(ResultTest, MacrosPassValuesOnAndErrorsUp) {
  ASSERT_TRUE(Quarter(12).ok());
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().message(), "got 3, wanted an even number");
  EXPECT_TRUE(CheckQuarter(8).ok());
  EXPECT_EQ(CheckQuarter(7).code(), StatusCode::kInvalidArgument);
}

TEST(ResultTest, HoldsWhatOnlyMoves) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  ASSERT_TRUE(result.ok());
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

}  // namespace
}  // namespace leeway
