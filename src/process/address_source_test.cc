#include "process/address_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/temp_folder.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

TEST(AddressSourceTest, AnAddressIsItself) { EXPECT_EQ(*MakeAddressSource("10.0.0.1:70")(), "10.0.0.1:70"); }

TEST(AddressSourceTest, AFileIsReadAtEveryQuestion) {
  const leeway::testing::TempFolder folder;
  const std::string path = folder.PathOf("address");
  const AddressSource where = MakeAddressSource("file:" + path);
  EXPECT_THAT(where().status().message(), HasSubstr(path));
  EXPECT_EQ(where().status().code(), StatusCode::kUnavailable);
  std::ofstream(path) << "127.0.0.1:1\n";
  EXPECT_EQ(*where(), "127.0.0.1:1");
  std::ofstream(path) << "127.0.0.1:2";
  EXPECT_EQ(*where(), "127.0.0.1:2");
  std::ofstream(path) << "\n";
  EXPECT_THAT(where().status().message(), HasSubstr("is empty"));
}

TEST(AddressSourceTest, AnAddressOfAnotherFormIsRefused) {
  for (const char* good : {"10.0.0.1:70", "box:7000", "[::1]:7000", "local:job", "file:/shared/address"})
    EXPECT_TRUE(CheckAddress(good).ok()) << good;
  EXPECT_THAT(CheckAddress("10.0.0.1").message(), HasSubstr("\"10.0.0.1\": no port; wanted \"host:port\""));
  for (const char* bad : {"box:port", "local:a/b", "file:", ""})
    EXPECT_EQ(CheckAddress(bad).code(), StatusCode::kInvalidArgument) << bad;
}

}  // namespace
}  // namespace leeway
