#include "role/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "leeway/options.h"
#include "role/job_flags.h"

namespace leeway::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class JobFileTest : public ::testing::Test {
 protected:
  JobFileTest() {
    DeclareJobFlags(flags, job, policies, &origins);
    flags.Time("--gather-timeout", gather, "how long");
    flags.TimeLimit("--wait-max", wait_max, "how long at most");
    flags.Switch("--rejoin", rejoin, "again");
    flags.Each(
        "--slow-worker", "RANK:FACTORx",
        [this](const std::string& text) {
          slow.push_back(text);
          return Status::Ok();
        },
        "slow");
  }
  Status Take(const std::string& text, const std::set<std::string>& given = {}) {
    Result<FlagFile> file = ParseJobFile(text, "job.toml");
    if (!file.ok()) return file.status();
    return TakeFile(*file, flags, /*first=*/false,
                    [&given](const Flag& flag) { return given.contains(flag.name()); });
  }
  std::string Refused(const std::string& text) {
    const Status status = Take(text);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    return status.message();
  }

  const Policies policies = Policies::Builtin();
  JobOptions job;
  JobOrigins origins;
  std::chrono::milliseconds gather{1};
  std::chrono::milliseconds wait_max{0};
  bool rejoin = false;
  std::vector<std::string> slow;
  FlagSet flags;
};

TEST_F(JobFileTest, ALimitMayBeNone) {
  EXPECT_TRUE(Take("wait_max = \"30m\"").ok());
  EXPECT_EQ(wait_max, std::chrono::minutes(30));
  EXPECT_TRUE(Take("wait_max = \"none\"").ok());
  EXPECT_EQ(wait_max.count(), 0);
  EXPECT_THAT(Take("wait_max = \"long\"").message(),
              HasSubstr("wanted a time such as 250ms, 30s or 2m, or none"));
}

TEST_F(JobFileTest, KeysAreTheNamesOfTheFlags) {
  const Status taken = Take(
      "# a job\n"
      "workers = 4\nservers = 3\nsync = \"ssp:3\"\napply = \"immediate\"\npull = \"partial:0.9,50\"\n"
      "exchange = \"every:2\"\nno_overlap = true\nflush_bytes = \"64KiB\"\nblock_bytes = \"1MiB\"\nseed = "
      "9\njob = \"mine\"\n"
      "gather_timeout = \"30s\"\nrejoin = true\nslow_worker = [\"1:2x\", \"3:4x\"]\n"
      "[[rule]]\ntables = \"fc*\"\nserver = 1\nsync = \"psp:2,50\"\n"
      "[[rule]]\nsync = 'when:pull=\"progress < v_train + s\",push=\"count >= workers\",s=2'\napply = "
      "\"immediate\"\n");
  ASSERT_TRUE(taken.ok()) << taken.ToString();
  EXPECT_EQ(job.workers, 4U);
  EXPECT_EQ(job.servers, 3U);
  EXPECT_EQ(job.sync, "ssp:3");
  EXPECT_EQ(job.pull, "partial:0.9,50");
  EXPECT_EQ(job.exchange, "every:2");
  EXPECT_FALSE(job.overlap);
  EXPECT_EQ(job.flush_bytes, 64U << 10);
  EXPECT_EQ(job.block_bytes, 1U << 20);
  EXPECT_EQ(job.seed, 9U);
  EXPECT_EQ(job.job, "mine");
  EXPECT_EQ(gather, std::chrono::seconds(30));
  EXPECT_TRUE(rejoin);
  EXPECT_THAT(slow, ElementsAre("1:2x", "3:4x"));
  ASSERT_EQ(job.rules.size(), 2U);
  EXPECT_EQ(job.rules[0], "tables=fc* server=1 sync=psp:2,50");
  EXPECT_TRUE(CheckJobFlags(job, Policies::Builtin()).ok());
}

TEST_F(JobFileTest, BlocksByNeedAreCalledAuto) {
  EXPECT_EQ(job.block_bytes, 0U) << "the default";
  for (const char* text : {"block_bytes = \"auto\"\n", "block_bytes = 0\n"}) {
    job.block_bytes = 4096;
    const Status taken = Take(text);
    ASSERT_TRUE(taken.ok()) << taken.ToString();
    EXPECT_EQ(job.block_bytes, 0U);
  }
  EXPECT_THAT(Refused("block_bytes = 32\n"), HasSubstr("got 32, wanted auto, or a value from 64 to 64MiB"));
}

TEST_F(JobFileTest, FlagsWinAndRulesOfTheFileComeFirst) {
  job.workers = 7;  // as the flag said
  ASSERT_TRUE(Take("workers = 4\nservers = 2\n[[rule]]\nsync = \"asp\"\n", {"--workers", "--rule"}).ok());
  EXPECT_EQ(job.workers, 7U);
  EXPECT_EQ(job.servers, 2U);
  EXPECT_EQ(job.rules.size(), 1U);
  EXPECT_THAT(Take("workers = \"x\"\n", {"--workers"}).message(), HasSubstr("line 1: workers"))
      << "not taken, and yet no nonsense";
}

TEST_F(JobFileTest, ASlipIsNamedWithItsLineAndASuggestion) {
  EXPECT_THAT(Refused("workers = 2\n\nsnyc = \"bsp\"\n"),
              AllOf(HasSubstr("job.toml line 3: unknown key \"snyc\""), HasSubstr("did you mean \"sync\"?")));
  EXPECT_THAT(Refused("block-bytes = 4\n"), HasSubstr("did you mean \"block_bytes\"?"));
  EXPECT_THAT(Refused("job_file = \"other.toml\"\n"), HasSubstr("unknown key \"job_file\""));
  EXPECT_THAT(Refused("[network]\nbeat = 3\n"), AllOf(HasSubstr("line 1"), HasSubstr("network")));
  EXPECT_THAT(
      Refused("workers = 2\n[[rule]]\ntable = \"fc*\"\n"),
      AllOf(HasSubstr("line 3: [[rule]]: unknown key \"table\""), HasSubstr("did you mean \"tables\"?")));
  EXPECT_THAT(Refused("[rule]\nsync = \"bsp\"\n"), HasSubstr("wanted [[rule]]"));
  EXPECT_THAT(Refused("zeta = 1\nalpha = 2\n"), HasSubstr("line 1")) << "what comes first is said first";
}

TEST_F(JobFileTest, TypesAreChecked) {
  EXPECT_THAT(Refused("workers = \"4\"\n"),
              AllOf(HasSubstr("line 1: workers: got text \"4\""), HasSubstr("wanted a whole number")));
  EXPECT_THAT(Refused("workers = 4.5\n"), HasSubstr("got the number 4.5"));
  EXPECT_THAT(Refused("workers = -1\n"), HasSubstr("wanted a whole number"));
  EXPECT_THAT(Refused("workers = 0\n"), HasSubstr("wanted a value from 1"));
  EXPECT_THAT(Refused("sync = 3\n"), HasSubstr("got the number 3, wanted text in quotes"));
  EXPECT_THAT(Refused("sync = [\"bsp\"]\n"), HasSubstr("got a list"));
  EXPECT_THAT(Refused("no_overlap = \"yes\"\n"), HasSubstr("wanted true or false"));
  EXPECT_THAT(Refused("gather_timeout = 30\n"), HasSubstr("wanted text such as \"30s\""));
  EXPECT_THAT(Refused("slow_worker = [1]\n"), HasSubstr("a list with the number 1 in it"));
  EXPECT_THAT(Refused("seed = 1979-05-27\n"), HasSubstr("got a date or time"));
  EXPECT_THAT(Refused("[[rule]]\nserver = \"1\"\nsync = \"bsp\"\n"), HasSubstr("line 2: [[rule]]: server"));
  EXPECT_THAT(Refused("[[rule]]\nserver = -1\nsync = \"bsp\"\n"), HasSubstr("wanted a server's number"));
  EXPECT_THAT(Refused("[[rule]]\nsync = 3\n"), HasSubstr("line 2: [[rule]]: sync"));
}

TEST_F(JobFileTest, ValuesAreCheckedAsFlagsAre) {
  EXPECT_THAT(Refused("sync = \"bpp\"\n"),
              AllOf(HasSubstr("line 1: sync"), HasSubstr("did you mean \"bsp\"?")));
  EXPECT_THAT(Refused("pull = \"partial:2,50\"\n"), HasSubstr("line 1: pull"));
  EXPECT_THAT(Refused("block_bytes = \"4MB\"\n"), HasSubstr("line 1: block_bytes"));
  EXPECT_THAT(Refused("\n[[rule]]\nsync = \"bpp\"\n"), AllOf(HasSubstr("line 2: rule"), HasSubstr("bpp")));
  EXPECT_THAT(Refused("[[rule]]\ntables = \"fc*\"\n"), HasSubstr("sync="));
  EXPECT_THAT(Refused("[[rule]]\nsync = \"pssp:3,0.5\"\napply = \"aggregate\"\n"),
              HasSubstr("use immediate"));
}

TEST_F(JobFileTest, WhatIsNoTomlSaysWhere) {
  EXPECT_THAT(Refused("workers = 2\nsync = \n"), HasSubstr("job.toml line 2"));
  EXPECT_THAT(Refused("workers = 2\nworkers = 3\n"), HasSubstr("job.toml line 2"));
  EXPECT_THAT(Refused("sync = \"\xff\"\n"), HasSubstr("job.toml line 1"));
  EXPECT_THAT(Refused(std::string(2U << 20, '#')), HasSubstr("at most"));
  EXPECT_THAT(ReadJobFile("/no/such/job.toml").status().message(), HasSubstr("/no/such/job.toml"));
  EXPECT_TRUE(Take("").ok());
}

TEST_F(JobFileTest, WhatAJobCannotHaveIsFoundBeforeAnythingIsStarted) {
  ASSERT_TRUE(Take("workers = 4\nservers = 2\n[[rule]]\nsync = \"drop:9\"\n").ok());
  EXPECT_THAT(CheckJobFlags(job, Policies::Builtin()).message(),
              AllOf(HasSubstr("drop:9"), HasSubstr("job of 4")));
  job.rules = {"server=2 sync=bsp"};
  EXPECT_THAT(CheckJobFlags(job, Policies::Builtin()).message(), HasSubstr("wanted 0 to 1"));
  job.rules.clear();
  job.sync = "drop:5";
  EXPECT_THAT(CheckJobFlags(job, Policies::Builtin()).message(), HasSubstr("5 workers"));
  job.sync = "ssptable:2";
  job.pull = "partial:0.9,50";
  EXPECT_THAT(CheckJobFlags(job, Policies::Builtin()).message(), HasSubstr("use pull \"full\""));
}

TEST_F(JobFileTest, WhatDoesNotFitTogetherIsNamedWhereItStands) {
  const auto wrong = [this](const std::string& text) {
    job = JobOptions();
    origins = JobOrigins{};
    EXPECT_TRUE(Take(text).ok()) << text;
    return CheckJobFlags(job, Policies::Builtin(), origins).message();
  };
  EXPECT_THAT(wrong("workers = 4\n\n[[rule]]\nsync = \"drop:9\"\n"),
              AllOf(StartsWith("job.toml line 3: rule"), HasSubstr("drop:9")));
  EXPECT_THAT(wrong("[[rule]]\nsync = \"bsp\"\n[[rule]]\nserver = 4\nsync = \"bsp\"\n"),
              AllOf(StartsWith("job.toml line 3: rule"), HasSubstr("server 4")));
  EXPECT_THAT(wrong("workers = 4\nsync = \"drop:9\"\n"), StartsWith("job.toml line 2: sync: "));
  EXPECT_THAT(wrong("sync = \"asp\"\napply = \"aggregate\"\n"),
              StartsWith("job.toml line 2: apply with job.toml line 1: sync asp: "));
  EXPECT_THAT(wrong("sync = \"asp\"\n[[rule]]\napply = \"aggregate\"\n"),
              StartsWith("job.toml line 2: rule: rule \"apply=aggregate\""));
  // From the command line: which of them.
  job.sync = "bsp";
  job.rules = {"sync=asp", "sync=drop:9"};
  origins.rules = {"job.toml line 2: rule", "--rule"};
  EXPECT_THAT(CheckJobFlags(job, Policies::Builtin(), origins).message(),
              StartsWith("--rule: rule \"sync=drop:9\""));
}

TEST_F(JobFileTest, OnlyCommentsHaveCharactersBeyondAscii) {
  EXPECT_TRUE(ParseJobFile("  # f\u00fcr alle\nworkers = 4\n", "job.toml").ok());
  EXPECT_EQ(ParseJobFile("workers = 4\nworkers\u00b1 = 5\n", "job.toml").status().message(),
            "job.toml line 2: got a character that is not ASCII, wanted such in comments only");
}

TEST_F(JobFileTest, AFileGivenAsTheJobsNameIsAskedAbout) {
  EXPECT_THAT(flags.Find("--job")->take("job.toml").message(), HasSubstr("--job-file job.toml"));
  EXPECT_TRUE(flags.Find("--job")->take("toml").ok());
}

}  // namespace
}  // namespace leeway::app
