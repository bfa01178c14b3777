#include "process/address_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace leeway {
namespace {

using ::testing::HasSubstr;

TEST(AddressSourceTest, AnAddressIsItself) { EXPECT_EQ(*MakeAddressSource("10.0.0.1:70")(), "10.0.0.1:70"); }

TEST(AddressSourceTest, AFileIsReadAtEveryQuestion) {
  const std::string path = ::testing::TempDir() + "leeway_address_source_test";
  const AddressSource where = MakeAddressSource("file:" + path);
  std::remove(path.c_str());
  EXPECT_THAT(where().status().message(), HasSubstr(path));
  EXPECT_EQ(where().status().code(), StatusCode::kUnavailable);
  std::ofstream(path) << "127.0.0.1:1\n";
  EXPECT_EQ(*where(), "127.0.0.1:1");
  std::ofstream(path) << "127.0.0.1:2";
  EXPECT_EQ(*where(), "127.0.0.1:2");
  std::ofstream(path) << "\n";
  EXPECT_THAT(where().status().message(), HasSubstr("is empty"));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace leeway
