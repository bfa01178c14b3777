// Hello, Leeway: pushes gradients of |w - 3|^2 / 2 and sees w go to 3.
//
//   ./leeway_hello                            alone: a whole job in this process
//   leeway run -w 2 -s 1 -- ./leeway_hello    as a job of two workers
#include <cstdio>
#include <vector>

#include "leeway/worker.h"

int main() {
  const auto options = leeway::WorkerOptions::FromEnvironment();
  if (!options.ok()) return std::puts(options.status().ToString().c_str()), 1;
  auto worker = leeway::Worker::Initialize(*options);
  if (!worker.ok()) return std::puts(worker.status().ToString().c_str()), 1;
  const leeway::TableId table = *(*worker)->CreateTable({.name = "w", .shape = {4}});
  std::vector<float> w(4, 0.0F), gradient(4);
  if (!(*worker)->Start().ok() || !(*worker)->Broadcast(table, w).ok()) return 1;
  for (int i = 0; i < 50; ++i) {
    const auto now = *(*worker)->Sync(table);
    for (int j = 0; j < 4; ++j) gradient[j] = now[j] - 3.0F;
    const auto ticket = (*worker)->Push(table, gradient, {.hyper = {.lr = 0.5F}});
    if (!(*worker)->Clock().ok() || !(*worker)->Wait(*ticket).ok()) return 1;
  }
  if (!(*worker)->Shutdown().ok()) return 1;
  std::printf("hello, w = %.3f\n", (*(*worker)->Sync(table))[0]);
}
