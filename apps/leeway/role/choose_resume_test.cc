// --resume with real files: whatever is cut off or changed in the newest checkpoint, it is named, and the one
// before is taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "checkpoint/testing/sample_checkpoint.h"
#include "role/checkpoint_flags.h"

namespace leeway::app {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ChooseResumeTest : public ::testing::Test {
 protected:
  ChooseResumeTest() : folder_(fs::temp_directory_path() / ("leeway-resume-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    Write(Id(11), {.id = 11, .tables = {{50}}, .shards = 1});
    newest_ = Write(Id(12), {.id = 12, .tables = {{250, 250}, {9}}, .block_elements = 8192, .shards = 2});
  }
  ~ChooseResumeTest() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path Id(std::uint64_t id) const { return folder_ / CheckpointName(id); }

  static sample::Checkpoint Write(const fs::path& to, const sample::CheckpointOptions& options) {
    sample::Checkpoint checkpoint = sample::DrawCheckpoint(options.id, options);
    fs::create_directories(to);
    for (const auto& [name, bytes] : checkpoint.files) {
      std::ofstream(to / name, std::ios::binary) << sample::TextOf(bytes);
    }
    return checkpoint;
  }

  // The chosen checkpoint. Lines about other checkpoints go to `said_`.
  std::string Choose() {
    said_.clear();
    CheckpointOptions options;
    options.resume = folder_.string();
    const Status chosen = ChooseResume(options, [this](const std::string& line) { said_ += line + "\n"; });
    return chosen.ok() ? options.resume : chosen.ToString();
  }

  void ExpectTheOneBefore(const std::string& file) {
    ++cases_;
    ASSERT_EQ(Choose(), Id(11).string()) << file;
    ASSERT_THAT(said_, AllOf(HasSubstr("cannot be used"), HasSubstr((Id(12) / file).string())));
  }

  const fs::path folder_;
  sample::Checkpoint newest_;
  std::string said_;
  std::uint64_t cases_ = 0;
};

TEST_F(ChooseResumeTest, TheNewestIsTaken) {
  EXPECT_EQ(Choose(), Id(12).string());
  EXPECT_EQ(said_, "");
}

TEST_F(ChooseResumeTest, LinksThatTheUserGaveAreResolvedOnce) {
  const fs::path link = folder_ / "link";
  fs::create_symlink(".", link);  // the folder itself, by a relative link
  fs::create_symlink(Id(12).filename(), folder_ / CheckpointName(13));
  CheckpointOptions options;
  options.resume = (link / CheckpointName(13)).string() + "/";
  const Status chosen = ChooseResume(options, [](const std::string&) {});
  ASSERT_TRUE(chosen.ok()) << chosen.ToString();
  EXPECT_EQ(options.resume, fs::canonical(Id(12)).string());
}

TEST_F(ChooseResumeTest, AFolderForCheckpointsMayBeALinkToOneThatIsNotThereYet) {
  fs::create_symlink("a/new", folder_ / "link");
  CheckpointOptions options;
  options.folder = (folder_ / "link/").string();
  ASSERT_TRUE(TakeCheckpointFlags(options).ok());
  EXPECT_EQ(options.folder, (folder_ / "a/new").string());
  EXPECT_EQ(fs::status(options.folder).permissions(), fs::perms::owner_all);
}

TEST_F(ChooseResumeTest, ARingOfLinksIsNamed) {
  fs::create_symlink("ring", folder_ / "ring");
  CheckpointOptions options;
  options.folder = (folder_ / "ring").string();
  EXPECT_THAT(TakeCheckpointFlags(options).ToString(),
              AllOf(HasSubstr("--checkpoint-dir"), HasSubstr("ring of links")));
}

TEST_F(ChooseResumeTest, DamageAtEvery4KiBOfAnyFileIsNamedAndTheOneBeforeTaken) {
  constexpr std::size_t kPage = 4096;
  std::size_t all_bytes = 0;
  for (const auto& [name, whole] : newest_.files) {
    all_bytes += whole.size();
    const fs::path path = Id(12) / name;
    // From the end, so that each cut is one call.
    for (std::size_t page = (whole.size() - 1) / kPage + 1; page-- > 0;) {
      const std::size_t at = page * kPage;
      std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
      const char good = static_cast<char>(whole[at]);
      file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(good ^ (1 << page % 8))).flush();
      ASSERT_NO_FATAL_FAILURE(ExpectTheOneBefore(name)) << "bit at " << at;
      file.seekp(static_cast<std::streamoff>(at)).put(good).flush();
    }
    for (std::size_t page = (whole.size() - 1) / kPage + 1; page-- > 0;) {
      fs::resize_file(path, page * kPage);
      ASSERT_NO_FATAL_FAILURE(ExpectTheOneBefore(name)) << "cut to " << page * kPage;
    }
    std::ofstream(path, std::ios::binary) << sample::TextOf(whole);
  }
  EXPECT_GE(all_bytes, 1U << 20);
  EXPECT_GE(cases_, 500U);
  EXPECT_EQ(Choose(), Id(12).string());
}

TEST_F(ChooseResumeTest, WithoutAGoodOneThereIsAnErrorThatNamesTheBad) {
  for (const std::uint64_t id : {11, 12}) fs::resize_file(Id(id) / "shard-000.lwc", 100);
  EXPECT_THAT(Choose(), AllOf(HasSubstr("--resume"), HasSubstr(Id(11).string())));
  EXPECT_THAT(said_, HasSubstr(Id(12).string()));
}

}  // namespace
}  // namespace leeway::app
