#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/errors.h"
#include "cli/flag_file.h"

namespace leeway::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A command with one flag of each kind, which notes what it was given.
class SailCommand final : public Command {
 public:
  explicit SailCommand(std::string name = "sail") : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::string summary() const override { return "sail somewhere"; }
  std::string lesson() const override { return "Examples:\n  boat sail -c 3\n"; }
  void Declare(FlagSet& flags) override {
    flags.Number("-c,--crew", "N", crew, 1, 10, "how many come along");
    flags.Bytes("--cargo", cargo, 0, 1U << 30, "what is carried");
    flags.Switch("--fast", fast, "do not stop");
    flags.Each(
        "--port", "NAME",
        [this](const std::string& port) {
          ports.push_back(port);
          taken.push_back("port " + port);
          return port == "nowhere" ? NotFound("unknown port \"nowhere\"") : Status::Ok();
        },
        "where to call");
    flags.OptionalTime("--watch", watches, watch, "look out");
    flags.OneOf("--sea", "STATE", sea, {{"calm", 0}, {"rough", 2}, {"stormy", 5}}, "how the sea is");
    flags.SwitchOff("--no-flag", flag, "show no colours");
    flags.File(
        "--log-book", "FILE",
        [](const std::string& path) -> Result<FlagFile> {
          if (path == "lost") return NotFound("the book is lost");
          FileValue how_many{
              .key = "crew", .line = 1, .kind = FileValue::Kind::kNumber, .texts = {"5"}, .got = "5"};
          FileValue where{
              .key = "port", .line = 2, .kind = FileValue::Kind::kText, .texts = {"home"}, .got = "home"};
          FileValue by{
              .key = "chart", .line = 3, .kind = FileValue::Kind::kText, .texts = {"coast"}, .got = "coast"};
          return FlagFile{path, {how_many, where, by}};
        },
        "what was done before");
    flags.EachFirst(
        "--chart", "NAME",
        [this](const std::string& chart) {
          taken.push_back("chart " + chart);
          return Status::Ok();
        },
        "by which ports are found");
    flags.Rest("ORDERS...", orders, "what to shout");
  }
  Result<int> Run() override {
    ++runs;
    return outcome;
  }

  std::uint32_t crew = 2;
  std::uint32_t cargo = 4096;
  bool fast = false;
  int sea = 2;
  bool watches = false;
  bool flag = true;
  std::chrono::milliseconds watch{1000};
  std::vector<std::string> ports, orders;
  std::vector<std::string> taken;  // of ports and charts, in order
  Result<int> outcome = 0;
  int runs = 0;

 private:
  const std::string name_;
};

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    commands_.push_back(std::make_unique<SailCommand>());
    commands_.push_back(std::make_unique<SailCommand>("harbour enter"));
    commands_.push_back(std::make_unique<SailCommand>("harbour leave"));
  }

  int Run(std::vector<std::string> args) {
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    const int code = RunCommandLine({"boat", "A boat.", "Start here."}, commands_, std::move(args));
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }
  SailCommand& sail(std::size_t i = 0) { return static_cast<SailCommand&>(*commands_[i]); }

  Commands commands_;
  std::string out_, err_;
};

TEST_F(CommandLineTest, FlagsReachTheirTargets) {
  EXPECT_EQ(Run({"sail", "-c", "7", "--cargo=16KiB", "--fast", "--port", "a", "--port", "b"}), 0);
  EXPECT_EQ(sail().crew, 7U);
  EXPECT_EQ(sail().cargo, 16'384U);
  EXPECT_TRUE(sail().fast);
  EXPECT_THAT(sail().ports, ElementsAre("a", "b"));
  EXPECT_EQ(sail().runs, 1);
}

TEST_F(CommandLineTest, FlagsThatComeFirstAreTakenFirstWhereverTheyStand) {
  EXPECT_EQ(Run({"sail", "--port", "a", "--log-book", "old", "--chart", "reef"}), 0) << err_;
  EXPECT_THAT(sail().taken, ElementsAre("chart coast", "chart reef", "port home", "port a"));
}

TEST_F(CommandLineTest, AScriptNeedsNoDashesAndTakesTheRest) {
  EXPECT_EQ(Run({"sail", "-c", "7", "--port", "a.py", "--fast", "go.py", "-c", "3", "--far"}), 0) << err_;
  EXPECT_EQ(sail().crew, 7U);
  EXPECT_THAT(sail().ports, ElementsAre("a.py")) << "a flag's value is none";
  EXPECT_THAT(sail().orders, ElementsAre("go.py", "-c", "3", "--far"));
  EXPECT_EQ(Run({"sail", "go", "there.py"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("unexpected \"go\""));
}

TEST(WordsTest, ACommandMayTakeWordsThatAreNoFlags) {
  std::vector<std::string> words;
  FlagSet flags;
  flags.Words("FROM TO", words, 2, 2, "from where to where");
  EXPECT_TRUE(flags.TakeWords({"a", "b"}).ok());
  EXPECT_THAT(words, ElementsAre("a", "b"));
  EXPECT_EQ(flags.TakeWords({"a"}).message(), "FROM TO: got 1 word, wanted from where to where");
  EXPECT_EQ(flags.TakeWords({"a", "b", "c"}).message(), "unexpected \"c\"");
}

TEST_F(CommandLineTest, AFlagOfSomeWordsTakesOneOfThem) {
  EXPECT_EQ(Run({"sail", "--sea", "stormy"}), 0);
  EXPECT_EQ(sail().sea, 5);
  EXPECT_EQ(Run({"sail", "--sea", "ruogh"}), kUsageExitCode);
  EXPECT_THAT(err_,
              HasSubstr("--sea: got \"ruogh\", wanted calm, rough or stormy (did you mean \"rough\"?)"));
  EXPECT_EQ(sail().sea, 5) << "an error changes nothing";
  EXPECT_EQ(Run({"sail", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("how the sea is [stormy]"));
}

TEST_F(CommandLineTest, AValueMayBeLeftOutWhereItMay) {
  EXPECT_EQ(Run({"sail", "--watch", "--fast"}), 0);
  EXPECT_TRUE(sail().watches && sail().fast);
  EXPECT_EQ(sail().watch, std::chrono::seconds(1));
  EXPECT_EQ(Run({"harbour", "enter", "--watch", "250ms"}), 0);
  EXPECT_TRUE(sail(1).watches);
  EXPECT_EQ(sail(1).watch, std::chrono::milliseconds(250));
  EXPECT_EQ(Run({"harbour", "leave"}), 0);
  EXPECT_FALSE(sail(2).watches);
  EXPECT_EQ(Run({"sail", "--watch", "often"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("--watch: got \"often\""));
}

TEST_F(CommandLineTest, ASwitchMayTurnSomethingOff) {
  EXPECT_EQ(Run({"sail"}), 0);
  EXPECT_TRUE(sail().flag);
  EXPECT_EQ(Run({"sail", "--no-flag"}), 0);
  EXPECT_FALSE(sail().flag);
}

TEST_F(CommandLineTest, AFileIsTakenBeforeTheFlagsWhichWin) {
  EXPECT_EQ(Run({"sail", "--log-book", "book", "--port", "b"}), 0) << err_;
  EXPECT_EQ(sail().crew, 5U);
  EXPECT_THAT(sail().ports, ElementsAre("home", "b"));
  EXPECT_EQ(Run({"harbour", "enter", "-c", "3", "--log-book", "book"}), 0);
  EXPECT_EQ(sail(1).crew, 3U);
  EXPECT_EQ(Run({"harbour", "leave", "--log-book", "lost"}), ExitCode(NotFound("lost")));
  EXPECT_EQ(err_, "boat harbour leave: --log-book: the book is lost\n") << "no wrong usage";
}

TEST_F(CommandLineTest, DefaultsStayWhenNothingIsGiven) {
  EXPECT_EQ(Run({"sail"}), 0);
  EXPECT_EQ(sail().crew, 2U);
  EXPECT_FALSE(sail().fast);
}

TEST_F(CommandLineTest, WhatStandsAfterTheDashesIsNotLookedAt) {
  EXPECT_EQ(Run({"sail", "-c", "1", "--", "python3", "--fast", "-c", "x", "--", "--help"}), 0);
  EXPECT_THAT(sail().orders, ElementsAre("python3", "--fast", "-c", "x", "--", "--help"));
  EXPECT_FALSE(sail().fast);
}

TEST_F(CommandLineTest, AMisspelledFlagGetsASuggestion) {
  EXPECT_EQ(Run({"sail", "--crow", "3"}), kUsageExitCode);
  EXPECT_THAT(err_,
              AllOf(HasSubstr("boat sail: unknown flag \"--crow\""), HasSubstr("did you mean \"--crew\"?")));
  EXPECT_EQ(Run({"sail", "--hlep"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("unknown flag \"--hlep\" (did you mean \"--help\"?)"));
  EXPECT_EQ(sail().runs, 0);
}

TEST_F(CommandLineTest, AFlagOfWhatIsRunIsToldItsPlace) {
  EXPECT_EQ(Run({"sail", "--anchor", "3"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("unknown flag \"--anchor\"; a flag for the program that it runs stands after "
                              "that program, or after \"--\""));
}

TEST_F(CommandLineTest, AMisspelledCommandGetsASuggestion) {
  EXPECT_EQ(Run({"sial"}), kUsageExitCode);
  EXPECT_THAT(err_, AllOf(HasSubstr("unknown command \"sial\"; known: sail, harbour"),
                          HasSubstr("did you mean \"sail\"?")));
}

TEST_F(CommandLineTest, WhatStandsInThePlaceOfACommandIsToldItsPlace) {
  EXPECT_EQ(Run({"--crew", "3", "sail"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("--crew stands before the command, wanted it after: boat sail --crew"));
  EXPECT_EQ(Run({"go.py"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("unknown command \"go.py\" (did you mean \"boat sail go.py\"?)"));
}

TEST_F(CommandLineTest, HelpMayBeAskedForByAWord) {
  EXPECT_EQ(Run({"help"}), 0);
  EXPECT_THAT(out_, HasSubstr("Commands:"));
  EXPECT_EQ(Run({"help", "sail"}), 0);
  EXPECT_THAT(out_, HasSubstr("--crew N"));
}

TEST_F(CommandLineTest, AWrongValueSaysWhatWasWanted) {
  EXPECT_EQ(Run({"sail", "-c", "11"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("--crew: got 11, wanted a value from 1 to 10"));
  EXPECT_EQ(Run({"sail", "-c", "many"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("--crew: got \"many\", wanted a whole number"));
  EXPECT_EQ(Run({"sail", "--cargo", "4MB"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("--cargo: got \"4MB\""));
}

TEST_F(CommandLineTest, AFlagsOwnCheckIsWrongUsageWhateverItsCode) {
  EXPECT_EQ(Run({"sail", "--port", "nowhere"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("--port: unknown port \"nowhere\""));
}

TEST_F(CommandLineTest, AMissingValueNamesTheFlag) {
  EXPECT_EQ(Run({"sail", "--crew"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("--crew: got no value, wanted N: how many come along"));
}

TEST_F(CommandLineTest, AFlagGivenTwiceIsRefused) {
  EXPECT_EQ(Run({"sail", "-c", "1", "-c", "2"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("--crew: given 2 times"));
}

TEST_F(CommandLineTest, AStrayWordIsRefused) {
  EXPECT_EQ(Run({"sail", "python3"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("after \"--\""));
}

TEST_F(CommandLineTest, ASecondCommandIsRefusedByName) {
  EXPECT_EQ(Run({"sail", "-c", "1", "--fast", "harbour", "enter"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("boat sail: unexpected \"harbour\""));
  EXPECT_EQ(Run({"harbour", "leave", "enter"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("boat harbour leave: unexpected \"enter\""));
  EXPECT_EQ(Run({"harbour", "leave", "sail", "-c", "1"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("boat harbour leave: unexpected \"sail\""));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(sail(i).runs, 0) << i;
}

TEST_F(CommandLineTest, AValueMayBeTheNameOfACommand) {
  EXPECT_EQ(Run({"sail", "--port", "harbour", "--port=sail", "--", "sail"}), 0);
  EXPECT_THAT(sail().ports, ElementsAre("harbour", "sail"));
}

TEST_F(CommandLineTest, HelpShowsFlagsDefaultsAndLesson) {
  EXPECT_EQ(Run({"sail", "--help"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("-c, --crew N"), HasSubstr("how many come along [2]"),
                          HasSubstr("[4KiB]"), HasSubstr("-- ORDERS..."), HasSubstr("boat sail -c 3")));
  EXPECT_EQ(sail().runs, 0);
}

TEST_F(CommandLineTest, HelpOfTheProgramListsItsCommands) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("A boat."), HasSubstr("harbour enter"), HasSubstr("Start here.")));
}

TEST_F(CommandLineTest, CommandsOfAGroupAreFoundByTheirSecondWord) {
  EXPECT_EQ(Run({"harbour", "leave", "-c", "4"}), 0);
  EXPECT_EQ(sail(2).crew, 4U);
  EXPECT_EQ(sail(1).runs, 0);
  EXPECT_EQ(Run({"harbour"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("harbour leave"));
  EXPECT_EQ(Run({"harbour", "leaf"}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("known: enter, leave"));
}

TEST_F(CommandLineTest, NoCommandShowsHelpAndIsWrongUsage) {
  EXPECT_EQ(Run({}), kUsageExitCode);
  EXPECT_THAT(err_, HasSubstr("Commands:"));
}

TEST_F(CommandLineTest, TheCommandsErrorBecomesItsExitCode) {
  sail().outcome = Unavailable("the wind is gone");
  EXPECT_EQ(Run({"sail"}), 128);
  EXPECT_THAT(err_, HasSubstr("boat sail: the wind is gone"));
  sail().outcome = 42;
  EXPECT_EQ(Run({"sail"}), 42);
}

}  // namespace
}  // namespace leeway::app
