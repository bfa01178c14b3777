#include "process_memory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "base/errors.h"

namespace leeway::bench {

Result<ProcessMemory> MemoryOf(pid_t process) {
  const std::string folder = fmt::format("/proc/{}", process);
  std::ifstream status(folder + "/status");
  ProcessMemory memory;
  bool found = false;
  for (std::string key; status >> key;) {
    if (key == "RssAnon:") found = static_cast<bool>(status >> memory.anon_kib);
    if (key == "RssShmem:") status >> memory.shmem_kib;
    status.ignore(4096, '\n');
  }
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder + "/fd", error), end; !error && at != end;
       at.increment(error))
    ++memory.descriptors;
  if (!found || error) return NotFound("process {} of the bench is gone", process);
  return memory;
}

}  // namespace leeway::bench
