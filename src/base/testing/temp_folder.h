// TempFolder: a folder of one test, with a name that no other run has. The destructor removes it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace leeway::testing {

class TempFolder {
 public:
  TempFolder() {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "cannot make the folder " << path_;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string PathOf(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = ::testing::TempDir() + "leeway_XXXXXX";
};

}  // namespace leeway::testing
