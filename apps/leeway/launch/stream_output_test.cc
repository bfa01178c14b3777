#include "launch/stream_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace leeway::app {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

class StreamOutputTest : public ::testing::Test {
 protected:
  StreamOutputTest() {
    std::array<int, 2> fds{};
    EXPECT_EQ(pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK), 0);
    read_ = Descriptor(fds[0]);
    write_ = Descriptor(fds[1]);
    options.fd = write_.fd();
    options.prefix = "[w0] ";
    options.key = "w0";
  }
  std::string Shown() const {
    std::array<char, 4096> bytes{};
    const ssize_t n = read(read_.fd(), bytes.data(), bytes.size());
    return n > 0 ? std::string(bytes.data(), static_cast<std::size_t>(n)) : "";
  }

  Descriptor read_, write_;
  Screen screen{false};
  StreamOptions options;
  StreamOutput::Clock::time_point now{std::chrono::hours(1)};
};

TEST_F(StreamOutputTest, ALineThatIsRedrawnIsShownTwiceASecondAndWhenItEnds) {
  StreamOutput output(screen, options);
  for (int percent = 0; percent < 100; ++percent) {  // 10 ms each
    output.Add("\r" + std::to_string(percent) + "%", now);
    now += milliseconds(10);
  }
  EXPECT_EQ(Shown(), "[w0] 0%\n[w0] 50%\n");
  output.Add("\r100%\n", now);
  EXPECT_EQ(Shown(), "[w0] 100%\n");
}

TEST_F(StreamOutputTest, TheLastTextIsShownThoughNothingComesAfterIt) {
  StreamOutput output(screen, options);
  output.Add("\r1%", now);
  output.Add("\r2%", now);
  EXPECT_EQ(Shown(), "[w0] 1%\n");
  output.Tick(now + milliseconds(499));
  EXPECT_EQ(Shown(), "");
  output.Tick(now + milliseconds(500));
  EXPECT_EQ(Shown(), "[w0] 2%\n");
  output.Finish(now);
  EXPECT_EQ(Shown(), "") << "it was shown as it ends";
}

TEST_F(StreamOutputTest, DelayedLinesCanBeDropped) {
  options.delay = milliseconds(500);
  options.last_words = "leeway server: ";
  StreamOutput output(screen, options);
  output.Add("one\n", now);
  output.Tick(now + milliseconds(499));
  EXPECT_EQ(Shown(), "");
  output.Tick(now + milliseconds(500));
  EXPECT_EQ(Shown(), "[w0] one\n");
  output.Add("two\nleeway server: all workers died\n", now);
  output.Drop();
  output.Release();
  EXPECT_EQ(Shown(), "");
  EXPECT_EQ(output.last_words(), "all workers died");
}

TEST_F(StreamOutputTest, TheTailKnowsWhetherOthersHaveSpokenSince) {
  StreamOutput output(screen, options);
  output.Add("Traceback\nError\n", now);
  EXPECT_FALSE(output.IsCovered());
  screen.Line(write_.fd(), "[w1] ", "something");
  EXPECT_TRUE(output.IsCovered());
  EXPECT_THAT(output.tail(), ElementsAre("Traceback", "Error"));
}

}  // namespace
}  // namespace leeway::app
