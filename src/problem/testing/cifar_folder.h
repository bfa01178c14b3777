// CifarFolder: a folder with six small files of CIFAR-10 that are valid until a test breaks one. The
// destructor removes it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/testing/temp_folder.h"
#include "problem/cifar_set.h"

namespace leeway::problem {

class CifarFolder {
 public:
  CifarFolder() {
    for (const char* name :
         {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}) {
      Write(std::string(name) + ".bin", Records({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    }
  }

  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  [[nodiscard]] std::string PathOf(const std::string& name) const { return folder_.PathOf(name); }

  void Write(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    std::ofstream file(PathOf(name), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  // The bytes of a file with one image for each label.
  static std::vector<std::uint8_t> Records(const std::vector<std::uint8_t>& labels) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint8_t label : labels) {
      bytes.push_back(label);
      for (std::size_t i = 0; i < kCifarImageBytes; ++i) bytes.push_back(Pixel(label, i));
    }
    return bytes;
  }
  // Noise with a bright stripe that tells the class, so that there is something to learn.
  static std::uint8_t Pixel(std::uint8_t label, std::size_t i) {
    const std::size_t stripe = i * kImageClasses / kCifarImageBytes;
    return static_cast<std::uint8_t>(Hash64({label, i}) % 60 + (stripe == label ? 180 : 0));
  }

 private:
  leeway::testing::TempFolder folder_;
};

}  // namespace leeway::problem
