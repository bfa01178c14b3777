#include "base/file_error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace leeway {
namespace {

TEST(FileErrorTest, SaysWhatAndWhyWithTheCodeThatFits) {
  EXPECT_EQ(FileError(ENOENT, "cannot read \"a\"").ToString(),
            "not found: cannot read \"a\": No such file or directory");
  EXPECT_EQ(FileError(ENOSPC, "x").code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(FileError(ENAMETOOLONG, "x").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(FileError(EIO, "x").code(), StatusCode::kUnavailable);
  EXPECT_EQ(FileError(EACCES, "x").code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(FileError(0, "x").ok());
}

TEST(FileErrorTest, PathsThatCannotNameAFileAreFound) {
  EXPECT_TRUE(CheckPath("a/b").ok());
  EXPECT_EQ(CheckPath("").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckPath(std::string("a\0b", 3)).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace leeway
