// All that a user's program needs to compile and to link: the public headers and leeway_process.
#include <cstdio>

#include "leeway/worker.h"

int main() {
  leeway::WorkerOptions options;
  options.scheduler = "no address";
  const auto worker = leeway::Worker::Initialize(options);
  std::puts(worker.status().ToString().c_str());
  return worker.ok() ? 1 : 0;
}
