// How the processes of a launched job are started: program, arguments, environment.
#pragma once

#include <cstdint>
#include <string>

#include "launch/launcher.h"
#include "system/child_process.h"
#include "system/environment.h"

namespace leeway::app {

// Files of one launch, in a folder of its own.
struct LaunchFiles {
  std::string folder;
  std::string secret;  // the file that holds the job's secret
  [[nodiscard]] std::string address() const { return folder + "/scheduler.address"; }
  // The address for other processes is a file: a scheduler that is started again may be elsewhere.
  [[nodiscard]] std::string scheduler() const { return "file:" + address(); }
  [[nodiscard]] std::string log() const { return folder + "/scheduler.log"; }
  [[nodiscard]] std::string status() const { return folder + "/status.json"; }
};

[[nodiscard]] ChildCommand SchedulerCommandOf(const Program& program, const LaunchOptions& options,
                                              const LaunchFiles& files);
[[nodiscard]] ChildCommand ServerCommandOf(const Program& program, const LaunchOptions& options,
                                           const LaunchFiles& files, std::uint32_t server);
// `restarts`: lives that this worker had before. `found` is the program of options.command[0].
[[nodiscard]] ChildCommand WorkerCommandOf(const Program& program, const LaunchOptions& options,
                                           const LaunchFiles& files, std::uint32_t rank, std::size_t restarts,
                                           const std::string& found);

}  // namespace leeway::app
