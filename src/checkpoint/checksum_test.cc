#include "checkpoint/checksum.h"

#include <gtest/gtest.h>

#include <vector>

namespace leeway {
namespace {

TEST(ChecksumTest, ItIsXxh3AndStaysSo) {
  EXPECT_EQ(ChecksumText(ChecksumOf(std::string_view())), "2d06800538d394c2");
  EXPECT_EQ(ChecksumText(ChecksumOf(std::string_view("a"))), "e6c632b61e964e1f");
  EXPECT_EQ(ChecksumText(0x2A), "000000000000002a");
}

TEST(ChecksumTest, CutsDoNotMatter) {
  std::vector<std::byte> bytes(5000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i);
  Checksum cut;
  for (std::size_t at = 0, n = 0; at < bytes.size(); at += n) {
    n = std::min<std::size_t>(1 + at % 700, bytes.size() - at);
    cut.Add(std::span(bytes).subspan(at, n));
    static_cast<void>(cut.value());
  }
  EXPECT_EQ(cut.value(), ChecksumOf(bytes));
}

}  // namespace
}  // namespace leeway
