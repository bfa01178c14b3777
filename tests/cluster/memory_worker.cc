// A worker in C++ for test_memory.py: trains tables under adam by the public API, and says how far it is.
//
//   memory_worker TABLES ELEMENTS_OF_EACH ITERATIONS SAY_EVERY FOLDER
//
// Whenever it says that it is in iteration N, it rests until FOLDER/N exists: the test measures meanwhile.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "leeway/worker.h"

namespace {

[[noreturn]] void Fail(const char* what, const leeway::Status& why) {
  std::fprintf(stderr, "%s: %s\n", what, why.ToString().c_str());
  std::exit(1);
}

void Check(const char* what, const leeway::Status& status) {
  if (!status.ok()) Fail(what, status);
}

template <typename T>
T Take(const char* what, leeway::Result<T> result) {
  if (!result.ok()) Fail(what, result.status());
  return *std::move(result);
}

const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void SayAndRest(long iteration, const std::filesystem::path& folder) {
  std::printf("iteration %ld\n", iteration);
  std::fflush(stdout);
  while (!std::filesystem::exists(folder / std::to_string(iteration)))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return std::fputs("wanted TABLES ELEMENTS ITERATIONS SAY_EVERY FOLDER\n", stderr), 2;
  const long tables = std::atol(argv[1]), elements = std::atol(argv[2]);
  const long iterations = std::atol(argv[3]), say_every = std::atol(argv[4]);

  leeway::WorkerOptions options;
  options.scheduler = Variable("LEEWAY_SCHEDULER");
  options.secret_file = Variable("LEEWAY_SECRET_FILE");
  options.job = Variable("LEEWAY_JOB");
  options.rank = std::atol(Variable("LEEWAY_RANK"));
  const auto worker = Take("Initialize", leeway::Worker::Initialize(options));
  std::vector<leeway::TableId> ids;
  for (long i = 0; i < tables; ++i) {
    const leeway::TableSpec spec{.name = "t" + std::to_string(i), .shape = {elements}, .optimizer = "adam"};
    ids.push_back(Take("CreateTable", worker->CreateTable(spec)));
  }
  Check("Start", worker->Start());
  // As a script has them: gradients beside the parameters, which Leeway holds here.
  std::vector<std::vector<float>> gradients(ids.size(), std::vector<float>(elements, 0.001F));
  for (std::size_t i = 0; i < ids.size(); ++i) Check("Broadcast", worker->Broadcast(ids[i], gradients[i]));
  std::vector<leeway::Ticket> tickets(ids.size());
  for (long iteration = 1; iteration <= iterations; ++iteration) {
    for (const leeway::TableId id : ids) (void)Take("Sync", worker->Sync(id));
    for (std::size_t i = ids.size(); i-- > 0;) {
      tickets[i] = Take("Update", worker->Push(ids[i], gradients[i], {.hyper = {.lr = 1e-4F}}));
    }
    Check("Clock", worker->Clock());
    for (const leeway::Ticket ticket : tickets) Check("Wait", worker->Wait(ticket));
    if (iteration % say_every == 0) SayAndRest(iteration, argv[5]);
  }
  Check("Shutdown", worker->Shutdown());
}
