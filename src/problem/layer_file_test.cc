#include "problem/layer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/testing/temp_folder.h"

namespace leeway::problem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string LayersError(std::string_view text, const LayerLimits& limits = {}) {
  const Result<std::vector<Table>> parsed = ParseLayers("mine.layers", text, limits);
  EXPECT_FALSE(parsed.ok()) << text;
  EXPECT_THAT(parsed.status().message(), HasSubstr("layers \"mine.layers\""));
  return parsed.status().message();
}

TEST(LayerFileTest, ALineIsANameAShapeAndMultiplyAdds) {
  const auto parsed =
      ParseLayers("x", "# mine\n\nconv1.weight 64x3x7x7 118013952 # wide\r\n \tconv1.bias\t64\n\nfc 5x1 0");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  ASSERT_EQ(parsed->size(), 3U);
  EXPECT_EQ((*parsed)[0].name, "conv1.weight");
  EXPECT_THAT((*parsed)[0].shape, ElementsAre(64, 3, 7, 7));
  EXPECT_EQ((*parsed)[0].multiply_adds, 118'013'952U);
  EXPECT_EQ((*parsed)[1].name, "conv1.bias");
  EXPECT_THAT((*parsed)[1].shape, ElementsAre(64));
  EXPECT_EQ((*parsed)[1].multiply_adds, 0U);
  EXPECT_THAT((*parsed)[2].shape, ElementsAre(5, 1));
}

TEST(LayerFileTest, AWrongLineIsShownWithItsNumber) {
  for (const char* line : {"a", "a x", "a 5x", "a x5", "a 5xx5", "a 0", "a -3", "a 5y5", "a 5 x", "a 5 -1",
                           "a 5 1.5", "a 5 5 5", "a 5 1125899906842625", "a 3.5", "a 5X5",
                           "a 99999999999999999999", "a 1048576x1048577", "a 1x1x1x1x1x1x1x1x1"}) {
    EXPECT_THAT(LayersError("# one\nok 1\n" + std::string(line) + "\n"),
                AllOf(HasSubstr("line 3: got \"" + std::string(line) + "\""),
                      HasSubstr("conv1.weight 64x3x7x7 118013952")));
  }
}

TEST(LayerFileTest, ANameStandsOnce) {
  EXPECT_THAT(LayersError("a 1\nb 1\na 2\n"), HasSubstr("line 3: got \"a\" a second time"));
}

TEST(LayerFileTest, AFileWithoutTensorsIsRefused) {
  EXPECT_THAT(LayersError(""), HasSubstr("got no tensor"));
  EXPECT_THAT(LayersError("# nothing\n"), HasSubstr("got no tensor"));
}

TEST(LayerFileTest, LimitsHold) {
  LayerLimits limits;
  limits.tensors_max = 2;
  limits.name_bytes_max = 3;
  EXPECT_THAT(LayersError("a 1\nb 1\nc 1\n", limits), HasSubstr("line 3: got more than 2 tensors"));
  EXPECT_THAT(LayersError("long 1\n", limits), HasSubstr("wanted a name of at most 3 bytes"));
}

TEST(LayerFileTest, AFileIsReadUpToItsLimit) {
  const leeway::testing::TempFolder folder;
  const std::string path = folder.PathOf("a.layers");
  std::ofstream(path) << "a 3x4\n";
  const auto read = ReadLayerFile(path);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_THAT((*read)[0].shape, ElementsAre(3, 4));
  LayerLimits limits;
  limits.file_bytes_max = 5;
  EXPECT_THAT(ReadLayerFile(path, limits).status().message(), HasSubstr("got more than 5 bytes"));
  std::remove(path.c_str());
  EXPECT_EQ(ReadLayerFile(path).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(ReadLayerFile(path).status().message(), HasSubstr(path));
}

TEST(LayerFileTest, AFolderIsNoFile) { EXPECT_FALSE(ReadLayerFile(::testing::TempDir()).ok()); }

}  // namespace
}  // namespace leeway::problem
