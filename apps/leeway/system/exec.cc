#include "system/exec.h"

#include <unistd.h>

namespace leeway::app {

std::vector<char*> ExecPointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

int Become(const Program& program, const std::vector<std::string>& words) {
  constexpr int kCannotRun = 127;
  std::vector<std::string> args = {program.executable};
  args.insert(args.end(), words.begin(), words.end());
  execve(program.executable.c_str(), ExecPointers(args).data(),
         ExecPointers(program.environment.entries()).data());
  return kCannotRun;
}

}  // namespace leeway::app
