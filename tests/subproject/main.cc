// What a program of a user needs to compile and to link: the public headers and leeway_process.
#include <cstdio>

#include "leeway/worker.h"

int main() {
  const auto worker = leeway::Worker::Initialize({.scheduler = "no address"});
  std::puts(worker.status().ToString().c_str());
  return worker.ok() ? 1 : 0;
}
