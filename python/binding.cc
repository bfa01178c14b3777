// _leeway: the Python face of leeway::Worker. Thin: every decision is above (python/leeway) or below
// (src/process).
//
// Tensors come as addresses and sizes (data_ptr(), numel()); Python keeps them alive. Every call that may
// block or contend lets go of Python's lock. Nothing that runs on the worker's loop touches a Python
// object: a gradient that Python lends is pinned by a token of this file, and Python asks (Loan.released)
// whether the token is gone; initial values by their memory itself.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "checkpoint/checksum.h"
#include "dlpack_capsule.h"
#include "leeway/worker.h"
#include "process/console_log.h"
#include "process/local_job.h"
#include "process/worker_client.h"
#include "sync/exchange_policy.h"
#include "sync/pull_policy.h"
#include "worker_arrays.h"
#include "worker_figures.h"

namespace py = pybind11;

namespace leeway {
namespace {

using Address = std::uintptr_t;
using NoGil = py::call_guard<py::gil_scoped_release>;

struct StatusError : std::exception {
  explicit StatusError(Status s) : status(std::move(s)) {}
  [[nodiscard]] const char* what() const noexcept override { return status.message().c_str(); }
  Status status;
};

void Check(Status status) {
  if (!status.ok()) throw StatusError(std::move(status));
}

template <typename T>
T Check(Result<T> result) {
  if (!result.ok()) throw StatusError(result.status());
  return std::move(result).value();
}

// Ctrl-C and the like while a call waits: runs Python's handlers, here and now. True when one raised; what it
// raised stays set, and is what the user then sees.
bool SignalArrived() {
  const py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

// The exception that leeway.errors makes of a Status.
void RaiseInPython(const Status& status) {
  if (PyErr_Occurred() != nullptr) return;  // a signal's handler raised: SignalArrived
  const py::object error = py::module_::import("leeway.errors")
                               .attr("from_status")(std::string(StatusCodeName(status.code())),
                                                    status.message(), ExitCode(status));
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
}

std::span<const float> Floats(Address address, std::size_t elements) {
  return {reinterpret_cast<const float*>(address),
          elements};  // NOLINT(performance-no-int-to-ptr): data_ptr()
}

std::span<float> Room(Address address, std::size_t elements) {
  return {reinterpret_cast<float*>(address), elements};  // NOLINT(performance-no-int-to-ptr): data_ptr()
}

// A gradient on loan to the worker.
struct Loan {
  Ticket ticket = 0;
  std::weak_ptr<const void> pin;
};

// What Python says of a gradient to lend: table, address, elements, hyper-parameters, samples.
using Lent = std::tuple<std::uint32_t, Address, std::size_t, Hyper, std::uint32_t>;

// The longest wait_max. What is longer is a slip in a unit, and far below what a count of milliseconds
// holds.
constexpr double kWaitMaxS = 30.0 * 24 * 3600;

// Of one tensor: 4 TiB.
constexpr std::int64_t kElementsMax = std::int64_t{1} << 40;

// In seconds; nothing: not given; 0: no limit. Rounded up, so that no limit above 0 becomes none. Written so
// that NaN is refused as well.
std::optional<std::chrono::milliseconds> WaitMax(std::optional<double> wait_max_s) {
  if (!wait_max_s) return std::nullopt;
  if (!(*wait_max_s >= 0 && *wait_max_s <= kWaitMaxS)) {
    throw StatusError(
        InvalidArgument("wait_max {}, wanted seconds up to {} (30 days), or 0 or \"none\" for no limit",
                        *wait_max_s, kWaitMaxS));
  }
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*wait_max_s));
}

// A worker and, for a script that runs alone, the rest of its job.
struct Life {
  ConsoleLog log{"worker", LogLevel::kWarning};
  std::unique_ptr<LocalJob> local_job;  // before worker: ends after it
  std::unique_ptr<Worker> worker;
};

// The worker of this process. Close may come while another thread is in a call.
class Client {
 public:
  static std::unique_ptr<Client> Join(const std::string& scheduler, const std::string& job, std::int64_t rank,
                                      std::optional<double> wait_max_s, const std::string& transport,
                                      bool record, const std::string& secret_file, bool insecure) {
    WorkerOptions options;
    options.scheduler = scheduler;
    options.job = job;
    options.rank = rank;
    options.wait_max = WaitMax(wait_max_s);
    options.link.transport = transport;
    options.record = record;
    options.secret_file = secret_file;
    options.insecure = insecure;
    auto life = std::make_shared<Life>();
    life->worker = Connect(options);
    return std::make_unique<Client>(std::move(life));
  }

  static std::unique_ptr<Client> Alone(const std::string& sync, const std::string& apply,
                                       std::uint32_t block_bytes, std::optional<double> wait_max_s,
                                       const std::string& pull, const std::string& exchange,
                                       const std::vector<std::string>& rules) {
    const auto wait_max = WaitMax(wait_max_s);
    auto life = std::make_shared<Life>();
    JobOptions job;
    job.job = "alone";
    job.sync = sync;
    job.apply = apply;
    job.block_bytes = block_bytes;
    job.pull = pull;
    job.exchange = exchange;
    job.rules = rules;
    life->local_job = Check(LocalJob::Start(job, life->log));
    WorkerOptions options;
    options.scheduler = life->local_job->scheduler();
    options.link.secret = life->local_job->secret();
    options.job = job.job;
    options.rank = 0;
    options.wait_max = wait_max;
    life->worker = Connect(options);
    return std::make_unique<Client>(std::move(life));
  }

  explicit Client(std::shared_ptr<Life> life) : pid_(::getpid()), life_(std::move(life)) {}
  ~Client() { Close(); }

  // Ends the life of the worker: as one that died, unless it has left or shut down before. A call that
  // another thread is in keeps the worker until it returns.
  void Close() {
    if (::getpid() != pid_) {
      // In a forked child the threads to be joined do not exist: nothing is destroyed.
      (void)new std::shared_ptr<Life>(std::move(life_));
      return;
    }
    std::shared_ptr<Life> ending;  // before the lock: destroyed without it
    const std::lock_guard lock(mutex_);
    ending.swap(life_);
  }

  // Shared: a call holds the worker while it runs, so that Close on another thread does not take it away.
  std::shared_ptr<Worker> worker() {
    if (::getpid() != pid_) {
      throw StatusError(FailedPrecondition(
          "this process (pid {}) was forked from the one that joined the job (pid {}); only that one "
          "may call Leeway",
          ::getpid(), pid_));
    }
    const std::lock_guard lock(mutex_);
    if (!life_)
      throw StatusError(
          FailedPrecondition("the job was shut down in this process; call init() for a new one"));
    return {life_, life_->worker.get()};
  }

  // Of tables with their own clock.
  Loan Lend(TableId table, Address gradient, std::size_t elements, const Hyper& hyper,
            std::uint32_t samples) {
    auto [loan, how] = Terms(hyper, samples);
    loan.ticket = Check(worker()->Push(table, Floats(gradient, elements), std::move(how)));
    return loan;
  }

  // Of tables that follow the job's clock: all or none.
  std::vector<Loan> LendAll(const std::vector<Lent>& gradients) {
    std::vector<Loan> loans;
    std::vector<TableUpdate> updates;
    for (const auto& [table, address, elements, hyper, samples] : gradients) {
      auto [loan, how] = Terms(hyper, samples);
      loans.push_back(std::move(loan));
      updates.push_back({TableId(table), Floats(address, elements), std::move(how)});
    }
    const std::vector<Ticket> tickets = Check(worker()->UpdateAll(std::move(updates)));
    for (std::size_t i = 0; i < loans.size(); ++i) loans[i].ticket = tickets[i];
    return loans;
  }

  // Of a table with its own clock: the values after this push, under the loan's ticket.
  Loan LendForValues(TableId table, Address gradient, Address values, std::size_t elements,
                     const Hyper& hyper, std::uint32_t samples) {
    auto [loan, how] = Terms(hyper, samples);
    const std::span<float> room(reinterpret_cast<float*>(values), elements);  // NOLINT: data_ptr()
    loan.ticket = Check(worker()->PushPull(table, Floats(gradient, elements), room, std::move(how)));
    return loan;
  }

 private:
  // A loan that has not begun, and what is to be told with it.
  static std::pair<Loan, UpdateOptions> Terms(const Hyper& hyper, std::uint32_t samples) {
    auto pin = std::make_shared<const char>();
    Loan loan{0, pin};
    UpdateOptions how;
    how.hyper = hyper;
    how.samples = samples;
    how.pin = std::move(pin);
    return {std::move(loan), std::move(how)};
  }

  static std::unique_ptr<Worker> Connect(WorkerOptions options) {
    options.keeps_state = true;  // leeway.rank_state gives it
    return Check(InitializeWorker(options, SignalArrived));
  }

  const pid_t pid_;
  std::mutex mutex_;  // of life_
  std::shared_ptr<Life> life_;
};

std::uint32_t CreateTable(Client& client, const std::string& name, std::vector<std::int64_t> shape,
                          bool own_clock, bool accept_nonfinite, const std::string& sync,
                          const std::string& apply, const std::string& optimizer, Address first,
                          Address second, std::uint32_t group) {
  TableSpec spec;
  spec.name = name;
  spec.shape = std::move(shape);
  spec.clock = own_clock ? TableClock::kOwn : TableClock::kJob;
  spec.nonfinite = accept_nonfinite ? NonFinite::kAccept : NonFinite::kRefuse;
  spec.sync = sync;
  spec.apply = apply;
  spec.optimizer = optimizer;
  spec.group = group;
  const TableBuffers buffers{reinterpret_cast<float*>(first),
                             reinterpret_cast<float*>(second)};  // NOLINT: data_ptr()
  return Check(client.worker()->CreateTable(spec, buffers)).value();
}

// Memory for one tensor with the shape and strides of a contiguous one.
ArenaMemory Allocate(Client& client, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
  if (strides.size() != shape.size())
    throw StatusError(
        InvalidArgument("allocate: got {} strides for {} dimensions", strides.size(), shape.size()));
  std::int64_t elements = 1;
  for (std::size_t i = shape.size(); i-- > 0; elements *= shape[i]) {
    if (shape[i] < 1 || (shape[i] > 1 && strides[i] != elements) || elements > kElementsMax / shape[i]) {
      throw StatusError(
          InvalidArgument("allocate: dimension {}: got {} elements with stride {}, wanted a contiguous "
                          "tensor of at most {} floats",
                          i, shape[i], strides[i], kElementsMax));
    }
  }
  auto memory = client.worker()->Allocate(static_cast<std::size_t>(elements));
  if (memory == nullptr) throw StatusError(ResourceExhausted("allocate: no memory for {} floats", elements));
  return {std::move(memory), std::move(shape), std::move(strides)};
}

std::vector<std::span<float>> Rooms(const std::vector<Address>& arrays, std::size_t elements) {
  std::vector<std::span<float>> rooms;
  for (const Address array : arrays) rooms.push_back(Room(array, elements));
  return rooms;
}

}  // namespace
}  // namespace leeway

PYBIND11_MODULE(_leeway, m) {
  using namespace leeway;  // NOLINT(google-build-using-namespace): one binding file
  m.attr("__version__") = LEEWAY_VERSION;
  // Whether two specs mean the same, however they are written; raises for what is none.
  m.def("same_pull", [](const std::string& a, const std::string& b) {
    return Check(ParsePullPolicy(a)) == Check(ParsePullPolicy(b));
  });
  m.def("same_exchange", [](const std::string& a, const std::string& b) {
    return Check(ParseExchangePolicy(a)) == Check(ParseExchangePolicy(b));
  });

  // Of memory that a tensor lies in: to notice that somebody has written there.
  m.def("checksum", [](Address address, std::size_t elements) {
    return ChecksumOf(std::as_bytes(Floats(address, elements)));
  });

  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const StatusError& e) {
      RaiseInPython(e.status);
    }
  });

  py::class_<Hyper>(m, "Hyper")
      .def(py::init<float, float, float, float, float, float>(), py::arg("lr"),
           py::arg("weight_decay") = 0.0F, py::arg("momentum") = 0.0F, py::arg("beta2") = 0.999F,
           py::arg("eps") = 1e-8F, py::arg("dampening") = 0.0F);

  py::class_<Loan>(m, "Loan").def_readonly("ticket", &Loan::ticket).def("released", [](const Loan& loan) {
    return loan.pin.expired();
  });

  py::class_<ArenaMemory>(m, "ArenaMemory")
      .def_property_readonly("address", &ArenaMemory::address)
      .def("capsule", &ArenaMemory::Capsule);

  py::class_<Client>(m, "Worker")
      .def_static("join", &Client::Join, NoGil(), py::arg("scheduler"), py::arg("job"), py::arg("rank"),
                  py::arg("wait_max_s"), py::arg("transport") = "auto", py::arg("record") = false,
                  py::arg("secret_file") = "", py::arg("insecure") = false)
      .def_static("alone", &Client::Alone, NoGil(), py::arg("sync"), py::arg("apply"), py::arg("block_bytes"),
                  py::arg("wait_max_s"), py::arg("pull") = "full", py::arg("exchange") = "every:1",
                  py::arg("rules") = std::vector<std::string>())
      .def("close", &Client::Close, NoGil())
      .def_property_readonly("rank", [](Client& c) { return c.worker()->rank().value(); })
      .def_property_readonly("size", [](Client& c) { return c.worker()->size(); })
      .def_property_readonly("job_pull", [](Client& c) { return c.worker()->job().pull; })
      .def_property_readonly("job_exchange", [](Client& c) { return c.worker()->job().exchange; })
      .def("iteration", [](Client& c) { return c.worker()->iteration().value(); })
      .def_property_readonly("goes_on", [](Client& c) { return c.worker()->goes_on(); })
      .def("allocate", &Allocate, NoGil(), py::arg("shape"), py::arg("strides"))
      .def("create_table", &CreateTable, NoGil(), py::arg("name"), py::arg("shape"),
           py::arg("own_clock") = false, py::arg("accept_nonfinite") = false, py::arg("sync") = "",
           py::arg("apply") = "", py::arg("optimizer") = "", py::arg("first") = 0, py::arg("second") = 0,
           py::arg("group") = 0)
      .def(
          "start", [](Client& c) { Check(c.worker()->Start()); }, NoGil())
      .def(
          "broadcast",
          // `lent` is the memory that the values lie in; without it they are copied.
          [](Client& c, std::uint32_t table, Address values, std::size_t elements, const ArenaMemory* lent) {
            Check(c.worker()->Broadcast(TableId(table), Floats(values, elements),
                                        lent == nullptr ? nullptr : lent->pin()));
          },
          NoGil(), py::arg("table"), py::arg("values"), py::arg("elements"), py::arg("lent") = nullptr)
      .def(
          "assign",
          [](Client& c, std::uint32_t table, Address values, std::size_t elements, const ArenaMemory* lent) {
            Check(c.worker()->Assign(TableId(table), Floats(values, elements),
                                     lent == nullptr ? nullptr : lent->pin()));
          },
          NoGil(), py::arg("table"), py::arg("values"), py::arg("elements"), py::arg("lent") = nullptr)
      .def(
          "read_values",
          [](Client& c, std::uint32_t table, Address values, std::size_t elements, bool even_if_known) {
            return Check(ReadValuesTo(*c.worker(), TableId(table), Room(values, elements), even_if_known));
          },
          NoGil())
      .def(
          "read_state",
          [](Client& c, std::uint32_t table, const std::vector<Address>& arrays, std::size_t elements) {
            return Check(ReadStateTo(*c.worker(), TableId(table), Rooms(arrays, elements)));
          },
          NoGil())
      .def(
          "write_state",
          [](Client& c, std::uint32_t table, std::uint64_t steps, const std::vector<Address>& arrays,
             std::size_t elements) {
            Check(WriteStateFrom(*c.worker(), TableId(table), steps, Rooms(arrays, elements)));
          },
          NoGil())
      .def(
          "update",
          [](Client& c, std::uint32_t table, Address gradient, std::size_t elements, const Hyper& hyper,
             std::uint32_t samples) {
            return c.LendAll({{table, gradient, elements, hyper, samples}}).front();
          },
          NoGil())
      .def("update_all", &Client::LendAll, NoGil())
      .def(
          "push",
          [](Client& c, std::uint32_t table, Address gradient, std::size_t elements, const Hyper& hyper,
             std::uint32_t samples) { return c.Lend(TableId(table), gradient, elements, hyper, samples); },
          NoGil())
      .def(
          "pull",
          [](Client& c, std::uint32_t table, Address values, std::size_t elements) {
            return Check(c.worker()->Pull(
                TableId(table), {reinterpret_cast<float*>(values), elements}));  // NOLINT: data_ptr()
          },
          NoGil())
      .def(
          "push_pull",
          [](Client& c, std::uint32_t table, Address gradient, Address values, std::size_t elements,
             const Hyper& hyper, std::uint32_t samples) {
            return c.LendForValues(TableId(table), gradient, values, elements, hyper, samples);
          },
          NoGil())
      .def(
          "wait", [](Client& c, Ticket ticket) { Check(c.worker()->Wait(ticket)); }, NoGil())
      .def("done", [](Client& c, Ticket ticket) { return c.worker()->Done(ticket); })
      .def(
          "clock",
          [](Client& c, std::optional<std::uint32_t> group) {
            const std::shared_ptr<Worker> worker = c.worker();
            Check(group ? worker->Clock(*group) : worker->Clock());
            return worker->StateWanted();
          },
          NoGil(), py::arg("group") = py::none())
      .def("state_wanted", [](Client& c) { return c.worker()->StateWanted(); })
      .def("give_state",
           [](Client& c, const py::bytes& state) {
             const auto bytes = std::as_bytes(std::span(static_cast<std::string_view>(state)));
             std::vector<std::byte> copy(bytes.begin(), bytes.end());
             const py::gil_scoped_release no_gil;
             Check(c.worker()->GiveState(std::move(copy)));
           })
      .def("restored_state",
           [](Client& c) -> py::object {
             const std::span<const std::byte> state = c.worker()->RestoredState();
             if (state.empty()) return py::none();
             return py::bytes(reinterpret_cast<const char*>(state.data()), state.size());
           })
      .def(
          "sync",
          [](Client& c, std::uint32_t table) {
            return reinterpret_cast<Address>(Check(c.worker()->Sync(TableId(table))).data());
          },
          NoGil())
      .def(
          "may_meet", [](Client& c, const std::string& what) { Check(c.worker()->MayMeet(what)); }, NoGil())
      .def(
          "barrier", [](Client& c, const std::string& name) { Check(c.worker()->Barrier(name)); }, NoGil())
      .def(
          "lease_batches",
          [](Client& c, const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
             const std::vector<std::int64_t>& used) {
            const std::vector<Iteration> iterations(used.begin(), used.end());
            return Check(c.worker()->LeaseBatches(pool, batches, wanted, iterations)).batches;
          },
          NoGil())
      .def(
          "set_sync", [](Client& c, const std::string& rule) { return Check(c.worker()->SetSync(rule)); },
          NoGil())
      .def(
          "leave", [](Client& c) { Check(c.worker()->Leave()); }, NoGil())
      .def(
          "finish", [](Client& c) { Check(c.worker()->Finish()); }, NoGil())
      .def(
          "shutdown", [](Client& c) { Check(c.worker()->Shutdown()); }, NoGil())
      .def("counters",
           [](Client& c) {
             WorkerCounters counters;
             {
               const py::gil_scoped_release no_gil;  // it may wait for the I/O thread
               counters = c.worker()->counters();
             }
             return Figures(counters);
           })
      .def(
          "set_figure",
          [](Client& c, const std::string& name, double value) { c.worker()->SetFigure(name, value); },
          NoGil());
}
