#include "cli/huge_pages.h"

#include <sys/auxv.h>
#include <unistd.h>

namespace leeway::app {
namespace {

constexpr const char* kVariable = "GLIBC_TUNABLES";
constexpr const char* kHugePages = "glibc.malloc.hugetlb=1";

}  // namespace

bool WantsHugePages(const std::vector<std::string>& words, const Environment& environment) {
  if (environment.Get(kVariable) || words.empty()) return false;
  if (words[0] == "sim" || words[0] == "papers") return true;
  return words[0] == "bench" && words.size() > 1 && words[1] == "sim";
}

void StartInHugePages(const Program& program, char* const* argv) {
  // Started with more rights than its caller has, a process never sees the variable, and would start for
  // ever.
  if (getauxval(AT_SECURE) != 0) return;
  Environment environment = program.environment;
  environment.Set(kVariable, kHugePages);
  std::vector<char*> entries;
  for (const std::string& entry : environment.entries()) entries.push_back(const_cast<char*>(entry.c_str()));
  entries.push_back(nullptr);
  execve(program.executable.c_str(), argv, entries.data());
}

}  // namespace leeway::app
