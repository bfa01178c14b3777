#include "node/worker/due_callbacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;

TEST(DueCallbacksTest, RunsInTheOrderInWhichTheyWereAddedAndEachOnce) {
  DueCallbacks due;
  std::vector<std::string> calls;
  due.Later([&] { calls.emplace_back("first"); });
  due.LaterDone([&](const Status& status) { calls.push_back(status.message()); }, NotFound("second"));
  due.LaterDone({}, Status::Ok());
  EXPECT_TRUE(calls.empty());
  due.Run();
  due.Run();
  EXPECT_THAT(calls, ElementsAre("first", "second"));
}

TEST(DueCallbacksTest, ACallbackThatAddsAndRunsDoesNotNest) {
  DueCallbacks due;
  std::vector<int> calls;
  due.Later([&] {
    due.Later([&] { calls.push_back(2); });
    due.Run();
    calls.push_back(1);
  });
  due.Run();
  EXPECT_THAT(calls, ElementsAre(1, 2));
}

}  // namespace
}  // namespace leeway
