// The checkpoint tools on real files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "checkpoint/testing/sample_checkpoint.h"
#include "inspect/checkpoint_folder.h"
#include "inspect/diff.h"
#include "inspect/safetensors.h"
#include "inspect/verify.h"

namespace leeway::app {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class InspectTest : public ::testing::Test {
 protected:
  InspectTest() : folder_(fs::temp_directory_path() / ("leeway-inspect-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~InspectTest() override { fs::remove_all(folder_); }

  std::string Write(std::uint64_t seed, const sample::CheckpointOptions& options = {}) {
    const sample::Checkpoint checkpoint = sample::DrawCheckpoint(seed, options);
    const fs::path own = folder_ / CheckpointName(options.id);
    fs::create_directories(own);
    for (const auto& [name, bytes] : checkpoint.files) {
      std::ofstream(own / name, std::ios::binary) << sample::TextOf(bytes);
    }
    manifest_ = checkpoint.manifest;
    return own.string();
  }
  static void Flip(const std::string& path, std::uint64_t at) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 4));
  }

  const fs::path folder_;
  Manifest manifest_;
};

TEST_F(InspectTest, FindsTheCompleteAndTheOthers) {
  EXPECT_EQ(FindCheckpoints(folder_.string()).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(FindCheckpoints((folder_ / "none").string()).status().code(), StatusCode::kNotFound);
  std::ofstream(folder_ / "file") << "no folder";
  EXPECT_EQ(FindCheckpoints((folder_ / "file").string()).status().code(), StatusCode::kInvalidArgument);
  fs::remove(folder_ / "file");
  const std::string own = Write(1);
  fs::create_directories(folder_ / "checkpoint-00000013");
  const auto found = FindCheckpoints(folder_.string());
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  ASSERT_EQ(found->size(), 2U);
  EXPECT_TRUE(found->at(0).complete);
  EXPECT_FALSE(found->at(1).complete);
  EXPECT_EQ(*OneCheckpoint(folder_.string()), own);
  EXPECT_EQ(*OneCheckpoint(own + "/"), own + "/");
}

TEST_F(InspectTest, AGoodCheckpointHasNoProblems) {
  const Verified verified = VerifyCheckpoint(Write(1));
  EXPECT_THAT(verified.problems, IsEmpty());
  EXPECT_EQ(verified.files, 5U);
  EXPECT_EQ(verified.blocks, 8U);
}

TEST_F(InspectTest, ProblemsNameFileOffsetAndBlock) {
  const std::string own = Write(1);
  const ManifestBlock& block = manifest_.tables[1].blocks[0];
  const std::string file = own + "/" + manifest_.files[block.file].name;
  Flip(file, block.record.offset + block.record.bytes - 1);
  const std::string place = "block " + std::to_string(block.record.block.value()) + " at offset " +
                            std::to_string(block.record.offset);
  EXPECT_THAT(VerifyCheckpoint(own).problems,
              Contains(AllOf(HasSubstr(file), HasSubstr(place), HasSubstr("layer.1.weight"))));
}

TEST_F(InspectTest, HeadersFootersBlobsAndMissingFilesAreLookedAt) {
  const std::string own = Write(1);
  Flip(own + "/shard-000.lwc", 20);
  Flip(own + "/shard-001.lwc", manifest_.files[1].bytes - 1);
  Flip(own + "/rank-000.1.state", 50);
  fs::remove(own + "/rank-001.2.state");
  EXPECT_THAT(VerifyCheckpoint(own).problems,
              ElementsAre(HasSubstr("shard-000.lwc: header at offset 0"),
                          HasSubstr("shard-001.lwc: footer at offset"),
                          HasSubstr("rank-000.1.state: got checksum"), HasSubstr("rank-001.2.state")));
}

TEST_F(InspectTest, AFileOfAnotherCheckpointIsFound) {
  const std::string own = Write(1);
  const std::string other = Write(2, {.id = 13});
  fs::copy_file(other + "/shard-000.lwc", own + "/shard-000.lwc", fs::copy_options::overwrite_existing);
  EXPECT_THAT(VerifyCheckpoint(own).problems, Contains(HasSubstr("it is of another checkpoint")));
}

TEST_F(InspectTest, ACheckpointDoesNotDifferFromItselfHoweverItIsCut) {
  const std::string a = Write(1);
  const auto same = DiffCheckpoints(a, a);
  ASSERT_TRUE(same.ok());
  for (const TableDiff& d : *same) EXPECT_EQ(d.norm, 0);
  const std::string b = Write(2, {.id = 13, .block_elements = 300, .shards = 2});
  const auto diffs = DiffCheckpoints(a, b);
  ASSERT_TRUE(diffs.ok()) << diffs.status().ToString();
  ASSERT_EQ(diffs->size(), 3U);
  const TableDiff& d = diffs->at(0);
  // Both uniform in [-0.5, 0.5], so the difference has variance 1/6.
  EXPECT_NEAR(d.norm, std::sqrt(4000.0 / 6), 2);
  EXPECT_GT(d.max_abs, 0.9);
  EXPECT_LE(d.max_abs, 1.0);
  EXPECT_TRUE(d.a && d.b && d.same_shape);
}

TEST_F(InspectTest, AnExportHasTheValuesOfItsTablesWhereTheHeaderSays) {
  const std::string own = Write(1);
  const std::string out = (folder_ / "out.safetensors").string();
  const auto exported = ExportSafetensors(own, out);
  ASSERT_TRUE(exported.ok()) << exported.status().ToString();
  EXPECT_EQ(exported->tables, manifest_.tables.size());
  std::ifstream file(out, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text.data(), sizeof(bytes));
  EXPECT_EQ(bytes % 8, 0U);
  EXPECT_EQ(text.size(), 8 + bytes + exported->bytes);
  const auto header = nlohmann::json::parse(text.substr(8, bytes));
  for (const ManifestTable& table : manifest_.tables) {
    const auto& entry = header.at(table.spec.name);
    EXPECT_EQ(entry.at("shape").get<std::vector<std::int64_t>>(), table.spec.shape);
    const ManifestBlock& block = table.blocks.back();
    const auto record = ReadRecord(own, manifest_, block);
    ASSERT_TRUE(record.ok());
    if (record->state.values == nullptr) continue;
    const std::uint64_t at =
        8 + bytes + entry.at("data_offsets").at(0).get<std::uint64_t>() + block.offset * sizeof(float);
    EXPECT_EQ(std::memcmp(text.data() + at, record->state.values->floats().data(), block.elements * 4), 0);
  }
}

TEST_F(InspectTest, AnExportOfADamagedCheckpointLeavesNoFile) {
  const std::string own = Write(1);
  const ManifestBlock& block = manifest_.tables[1].blocks[0];
  Flip(own + "/" + manifest_.files[block.file].name, block.record.offset + block.record.bytes - 1);
  const std::string out = (folder_ / "out.safetensors").string();
  EXPECT_EQ(ExportSafetensors(own, out).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(fs::exists(out) || fs::exists(out + ".tmp"));
  EXPECT_FALSE(ExportSafetensors(Write(1), (folder_ / "none" / "out.safetensors").string()).ok());
}

TEST_F(InspectTest, AnExportOfMeansIsRefused) {
  const std::string own = Write(1);
  manifest_.tables[1].spec.apply = "relay";
  std::ofstream(own + "/manifest.json") << WriteManifest(manifest_);
  const std::string out = (folder_ / "out.safetensors").string();
  EXPECT_THAT(ExportSafetensors(own, out).status().message(), HasSubstr("apply=\"relay\""));
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(InspectTest, StatesOfRanksAreTheSameOrNot) {
  const std::string a = Write(1);
  const std::string b = Write(1, {.id = 13});
  const std::string c = Write(2, {.id = 14, .ranks = 1});
  const auto same = DiffRanks(a, b);
  ASSERT_TRUE(same.ok()) << same.status().ToString();
  ASSERT_EQ(same->size(), 2U);
  for (const RankDiff& d : *same) EXPECT_TRUE(d.same) << "whatever the checkpoint is called";
  EXPECT_EQ(same->at(1).bytes_a, 101U);
  const auto differ = DiffRanks(a, c);
  ASSERT_EQ(differ->size(), 2U);
  EXPECT_FALSE(differ->at(0).same);
  EXPECT_FALSE(differ->at(1).same);
  EXPECT_FALSE(differ->at(1).iteration_b.has_value());
}

TEST_F(InspectTest, AStateOfAnotherRankIsFound) {
  const std::string own = Write(1);
  const std::string other = Write(1, {.id = 13});
  fs::copy_file(other + "/rank-000.1.state", own + "/rank-000.1.state", fs::copy_options::overwrite_existing);
  EXPECT_THAT(VerifyCheckpoint(own).problems,
              Contains(HasSubstr("of checkpoint 13 of job \"sample\", wanted rank 0 incarnation 1")));
}

TEST_F(InspectTest, TablesOfOneSideOnlyAreListed) {
  const std::string a = Write(1);
  const std::string b = Write(1, {.id = 13, .tables = {{100, 40}}});
  const auto diffs = DiffCheckpoints(a, b);
  ASSERT_EQ(diffs->size(), 3U);
  EXPECT_FALSE(diffs->at(0).same_shape);
  EXPECT_TRUE(diffs->at(1).a.has_value());
  EXPECT_FALSE(diffs->at(1).b.has_value());
}

}  // namespace
}  // namespace leeway::app
