#include "flatness.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/errors.h"
#include "figures.h"
#include "leeway/worker.h"
#include "leeway_job.h"
#include "transport/stream/carrier.h"
#include "turns.h"

namespace leeway::bench {
namespace {

constexpr std::uint32_t kFlatWorkers = 2;
constexpr std::size_t kFlatTables = 4, kFlatElements = 1000;
constexpr std::uint64_t kLooks = 100;
constexpr std::chrono::minutes kLookMax{10};

// Trains; rank 0 says how far it is, kLooks times, and waits each time until it was looked at.
Status Train(Child::Parent& parent, const ServerProcesses& servers, const FlatnessOptions& options,
             std::uint32_t rank) {
  WorkerOptions worker_options;
  worker_options.scheduler = servers.scheduler();
  worker_options.link.secret = servers.secret();
  worker_options.link.transport = options.transport;
  worker_options.rank = rank;
  LW_ASSIGN_OR_RETURN(const auto worker, Worker::Initialize(worker_options));
  std::vector<TableId> tables;
  for (std::size_t t = 0; t < kFlatTables; ++t) {
    TableSpec spec;
    spec.name = fmt::format("table{}", t);
    spec.shape = {static_cast<std::int64_t>(kFlatElements)};
    spec.optimizer = "adam";
    LW_ASSIGN_OR_RETURN(const TableId table, worker->CreateTable(spec));
    tables.push_back(table);
  }
  LW_RETURN_IF_ERROR(worker->Start());
  const std::shared_ptr<float> gradient = worker->Allocate(kFlatElements);
  std::fill_n(gradient.get(), kFlatElements, 0.001F);
  const std::span<const float> lent(gradient.get(), kFlatElements);
  for (const TableId table : tables) LW_RETURN_IF_ERROR(worker->Broadcast(table, lent));
  parent.Tell("ready");
  std::vector<Ticket> tickets(tables.size());
  std::uint64_t looks = 0;
  for (std::uint64_t iteration = 1; iteration <= options.iterations; ++iteration) {
    for (const TableId table : tables) LW_RETURN_IF_ERROR(worker->Sync(table).status());
    for (std::size_t t = tables.size(); t-- > 0;) {
      LW_ASSIGN_OR_RETURN(tickets[t], worker->Push(tables[t], lent, {.hyper = {.lr = 1e-4F}}));
    }
    LW_RETURN_IF_ERROR(worker->Clock());
    for (const Ticket ticket : tickets) LW_RETURN_IF_ERROR(worker->Wait(ticket));
    if (rank == 0 && iteration * kLooks >= (looks + 1) * options.iterations) {
      parent.Tell(std::to_string(++looks));
      if (!parent.Hear()) return Unavailable("the bench is gone");
    }
  }
  LW_RETURN_IF_ERROR(worker->Shutdown());
  parent.Tell("done");
  return Status::Ok();
}

ProcessMemory MedianOf(std::span<const ProcessMemory> looks) {
  const auto median = [&](double ProcessMemory::*part) {
    std::vector<double> values;
    for (const ProcessMemory& look : looks) values.push_back(look.*part);
    return Median(values);
  };
  return {median(&ProcessMemory::anon_kib), median(&ProcessMemory::shmem_kib),
          median(&ProcessMemory::descriptors)};
}

}  // namespace

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

FlatnessRow Growth(const std::string& process, const std::vector<ProcessMemory>& looks) {
  LW_CHECK(looks.size() >= 10);
  const std::span<const ProcessMemory> all(looks);
  const std::size_t tenth = looks.size() / 10;
  return {.process = process,
          .after_warm_up = MedianOf(all.subspan(tenth, tenth)),
          .at_end = MedianOf(all.last(tenth))};
}

Status Check(const FlatnessOptions& options) {
  LW_RETURN_IF_ERROR(ParseCarrier(options.transport).status());
  if (options.iterations < kLooks)
    return InvalidArgument("iterations: got {}, wanted at least {}", options.iterations, kLooks);
  return Status::Ok();
}

Result<FlatnessReport> RunFlatness(const FlatnessOptions& options) {
  LW_RETURN_IF_ERROR(Check(options));
  JobOptions job;
  job.workers = kFlatWorkers;
  LW_ASSIGN_OR_RETURN(const ServerProcesses servers,
                      ServerProcesses::Start(job, options.transport, [](std::uint32_t) {}));
  Children workers;
  std::vector<std::pair<std::string, pid_t>> processes = {{"server", servers.children()[0]->pid()}};
  for (std::uint32_t rank = 0; rank < kFlatWorkers; ++rank) {
    workers.push_back(std::make_unique<Child>([&](Child::Parent& parent) {
      const Status status = Train(parent, servers, options, rank);
      return status.ok() ? 0 : Fail(parent, status);
    }));
    processes.emplace_back(fmt::format("worker {}", rank), workers.back()->pid());
  }
  LW_RETURN_IF_ERROR(HearAll(workers, "ready"));
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::vector<ProcessMemory>> looks(processes.size());
  for (std::uint64_t i = 0; i < kLooks; ++i) {
    LW_ASSIGN_OR_RETURN(const std::string line, workers[0]->Hear(kLookMax));
    if (line != std::to_string(i + 1)) return Internal("got \"{}\" from worker 0, wanted {}", line, i + 1);
    for (std::size_t p = 0; p < processes.size(); ++p) {
      LW_ASSIGN_OR_RETURN(const ProcessMemory memory, MemoryOf(processes[p].second));
      looks[p].push_back(memory);
    }
    LW_RETURN_IF_ERROR(workers[0]->Tell("seen"));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  LW_RETURN_IF_ERROR(HearAll(workers, "done"));
  FlatnessReport report{.options = options, .rows = {}};
  report.iterations_s = static_cast<double>(options.iterations) / took.count();
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const FlatnessRow& row = report.rows.emplace_back(Growth(processes[p].first, looks[p]));
    report.growth_kib_max = std::max({report.growth_kib_max, row.anon_growth_kib(), row.shmem_growth_kib()});
    report.descriptors_growth_max = std::max(report.descriptors_growth_max, row.descriptors_growth());
  }
  return report;
}

}  // namespace leeway::bench
