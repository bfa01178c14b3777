// ImageFolder: a folder with four small IDX files that are valid until a test breaks one. The destructor
// removes it.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/testing/temp_folder.h"
#include "problem/idx_set.h"

namespace leeway::problem {

class ImageFolder {
 public:
  explicit ImageFolder(std::uint32_t train = 60, std::uint32_t test = 30) {
    WriteSet("train", train);
    WriteSet("t10k", test);
  }

  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  [[nodiscard]] std::string PathOf(const std::string& name) const { return folder_.PathOf(name); }

  void Write(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    std::ofstream file(PathOf(name), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  void WritePacked(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    gzFile file = gzopen(PathOf(name).c_str(), "wb");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
              static_cast<int>(bytes.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
  }
  void Remove(const std::string& name) const { std::filesystem::remove(PathOf(name)); }
  void Truncate(const std::string& name, std::uintmax_t bytes) const {
    std::filesystem::resize_file(PathOf(name), bytes);
  }

  // The bytes of an IDX file.
  static std::vector<std::uint8_t> Idx(std::initializer_list<std::uint32_t> header,
                                       const std::vector<std::uint8_t>& values) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : header) {
      for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    }
    bytes.insert(bytes.end(), values.begin(), values.end());
    return bytes;
  }

  // Noise with a bright row that tells the class, so that there is something to learn.
  static std::vector<std::uint8_t> Pixels(std::uint32_t count) {
    std::vector<std::uint8_t> pixels(count * kIdxPixels);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const std::size_t row = i % kIdxPixels / kIdxSide;
      const std::size_t label = i / kIdxPixels % kImageClasses;
      pixels[i] = static_cast<std::uint8_t>(Hash64({i}) % 60 + (row == 2 * label + 4 ? 180 : 0));
    }
    return pixels;
  }
  static std::vector<std::uint8_t> Labels(std::uint32_t count) {
    std::vector<std::uint8_t> labels(count);
    for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<std::uint8_t>(i % kImageClasses);
    return labels;
  }

 private:
  // Images packed, labels plain: both are read.
  void WriteSet(const std::string& part, std::uint32_t count) const {
    WritePacked(part + "-images-idx3-ubyte.gz", Idx({0x0803, count, kIdxSide, kIdxSide}, Pixels(count)));
    Write(part + "-labels-idx1-ubyte", Idx({0x0801, count}, Labels(count)));
  }

  leeway::testing::TempFolder folder_;
};

}  // namespace leeway::problem
