#include "cli/simulator_variables.h"

#include <sys/auxv.h>
#include <unistd.h>

#include "system/exec.h"

namespace leeway::app {
namespace {

bool Simulates(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  if (words[0] == "sim") return true;
  return words[0] == "bench" && words.size() > 1 && words[1] == "sim";
}

}  // namespace

bool HasCommonKernels() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return false;
#endif
}

std::optional<Environment> SimulatorVariables(const std::vector<std::string>& words,
                                              const Environment& environment, bool has_common_kernels) {
  if (!Simulates(words)) return std::nullopt;
  Environment wanted = environment;
  wanted.SetUnlessSet("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
  if (has_common_kernels) wanted.SetUnlessSet("OPENBLAS_CORETYPE", "Haswell");
  if (wanted.entries() == environment.entries()) return std::nullopt;
  return wanted;
}

void StartAnew(const Program& program, char* const* argv, const Environment& environment) {
  // Started with more rights than its caller has, a process never sees GLIBC_TUNABLES, and would start for
  // ever.
  if (getauxval(AT_SECURE) != 0) return;
  const std::vector<char*> entries = ExecPointers(environment.entries());
  execve(program.executable.c_str(), argv, entries.data());
}

}  // namespace leeway::app
