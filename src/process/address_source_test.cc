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

}  // namespace
}  // namespace leeway
