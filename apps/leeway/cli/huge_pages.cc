#include "cli/huge_pages.h"

#include <unistd.h>

#include <cstdlib>

namespace leeway::app {
namespace {

constexpr const char* kVariable = "GLIBC_TUNABLES";

bool Simulates(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  if (words[0] == "sim" || words[0] == "papers") return true;
  return words[0] == "bench" && words.size() > 1 && words[1] == "sim";
}

}  // namespace

void UseHugePages(const std::vector<std::string>& words, const std::string& executable, char** argv) {
  if (!Simulates(words) || getenv(kVariable) != nullptr) return;
  if (setenv(kVariable, "glibc.malloc.hugetlb=1", 1) == 0) execv(executable.c_str(), argv);
  unsetenv(kVariable);
}

}  // namespace leeway::app
