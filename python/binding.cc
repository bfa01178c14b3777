// _leeway: the Python face of leeway::Worker. Thin: every decision is above (python/leeway) or below
// (src/process).
//
// Tensors come as addresses and sizes (data_ptr(), numel()); Python keeps them alive. Every call that may
// block or contend lets go of Python's lock. Nothing that runs on the worker's I/O thread touches a Python
// object: what Python lends is pinned by a token of this file, and Python asks (Loan.released) whether the
// token is gone.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "leeway/worker.h"
#include "process/console_log.h"
#include "process/local_job.h"
#include "process/worker_client.h"

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

// A gradient on loan to the worker.
struct Loan {
  Ticket ticket = 0;
  std::weak_ptr<const void> pin;
};

// The worker of this process and, for a script that runs alone, the rest of its job.
class Client {
 public:
  static std::unique_ptr<Client> Join(const std::string& scheduler, const std::string& job, std::int64_t rank,
                                      double wait_max_s) {
    auto client = std::make_unique<Client>();
    client->Connect(scheduler, job, rank, wait_max_s);
    return client;
  }

  static std::unique_ptr<Client> Alone(const std::string& sync, const std::string& apply,
                                       std::uint32_t block_bytes, double wait_max_s) {
    auto client = std::make_unique<Client>();
    JobOptions job;
    job.job = "alone";
    job.sync = sync;
    job.apply = apply;
    job.block_bytes = block_bytes;
    client->local_job_ = Check(LocalJob::Start(job, client->log_));
    client->Connect(client->local_job_->scheduler(), job.job, 0, wait_max_s);
    return client;
  }

  ~Client() { Close(); }

  // Ends the life of the worker: as one that died, unless it has left or shut down before.
  void Close() {
    if (::getpid() != pid_) {
      // In a forked child the threads to be joined do not exist.
      (void)worker_.release();
      (void)local_job_.release();
      return;
    }
    worker_.reset();
    local_job_.reset();
  }

  Worker& worker() {
    if (::getpid() != pid_) {
      throw StatusError(FailedPrecondition(
          "this process (pid {}) was forked from the one that joined the job (pid {}); only that one "
          "may call Leeway",
          ::getpid(), pid_));
    }
    if (!worker_)
      throw StatusError(
          FailedPrecondition("the job was shut down in this process; call init() for a new one"));
    return *worker_;
  }

  Loan Lend(TableId table, Address gradient, std::size_t elements, const Hyper& hyper, std::uint32_t samples,
            bool own_clock) {
    auto pin = std::make_shared<const char>();
    Loan loan{0, pin};
    UpdateOptions how;
    how.hyper = hyper;
    how.samples = samples;
    how.pin = std::move(pin);
    const auto floats = Floats(gradient, elements);
    loan.ticket = own_clock ? Check(worker().Push(table, floats, std::move(how)))
                            : Check(worker().Update(table, floats, std::move(how)));
    return loan;
  }

  Client() : log_("worker", LogLevel::kWarning), pid_(::getpid()) {}

 private:
  void Connect(const std::string& scheduler, const std::string& job, std::int64_t rank, double wait_max_s) {
    WorkerOptions options;
    options.scheduler = scheduler;
    options.job = job;
    options.rank = rank;
    options.wait_max = std::chrono::milliseconds(static_cast<std::int64_t>(wait_max_s * 1e3));
    worker_ = Check(InitializeWorker(options, SignalArrived));
  }

  ConsoleLog log_;
  const pid_t pid_;
  std::unique_ptr<LocalJob> local_job_;  // before worker_: ends after it
  std::unique_ptr<Worker> worker_;
};

py::dict Figures(const WorkerCounters& c) {
  py::dict d;
  d["pushes"] = c.pushes;
  d["applied"] = c.applied;
  d["summed"] = c.summed;
  d["absent"] = c.absent;
  d["late_dropped"] = c.late_dropped;
  d["refused"] = c.refused;
  d["pulls"] = c.pulls;
  d["answers"] = c.answers;
  d["unchanged"] = c.unchanged;
  d["resent"] = c.resent;
  d["reconnects"] = c.reconnects;
  d["bytes_sent"] = c.bytes_sent;
  d["bytes_received"] = c.bytes_received;
  d["wait_s"] = static_cast<double>(c.wait_ns) * 1e-9;
  d["staleness_sum"] = c.staleness_sum;
  return d;
}

std::uint32_t CreateTable(Client& client, const std::string& name, std::vector<std::int64_t> shape,
                          bool own_clock, bool accept_nonfinite, const std::string& sync,
                          const std::string& apply, const std::string& optimizer, Address first,
                          Address second) {
  TableSpec spec;
  spec.name = name;
  spec.shape = std::move(shape);
  spec.clock = own_clock ? TableClock::kOwn : TableClock::kJob;
  spec.nonfinite = accept_nonfinite ? NonFinite::kAccept : NonFinite::kRefuse;
  spec.sync = sync;
  spec.apply = apply;
  spec.optimizer = optimizer;
  const TableBuffers buffers{reinterpret_cast<float*>(first),
                             reinterpret_cast<float*>(second)};  // NOLINT: data_ptr()
  return Check(client.worker().CreateTable(spec, buffers)).value();
}

}  // namespace
}  // namespace leeway

PYBIND11_MODULE(_leeway, m) {
  using namespace leeway;  // NOLINT(google-build-using-namespace): one binding file
  m.attr("__version__") = LEEWAY_VERSION;

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

  py::class_<Client>(m, "Worker")
      .def_static("join", &Client::Join, NoGil(), py::arg("scheduler"), py::arg("job"), py::arg("rank"),
                  py::arg("wait_max_s"))
      .def_static("alone", &Client::Alone, NoGil(), py::arg("sync"), py::arg("apply"), py::arg("block_bytes"),
                  py::arg("wait_max_s"))
      .def("close", &Client::Close, NoGil())
      .def_property_readonly("rank", [](Client& c) { return c.worker().rank().value(); })
      .def_property_readonly("size", [](Client& c) { return c.worker().size(); })
      .def_property_readonly("job_sync", [](Client& c) { return c.worker().job().sync; })
      .def("iteration", [](Client& c) { return c.worker().iteration().value(); })
      .def("create_table", &CreateTable, NoGil(), py::arg("name"), py::arg("shape"),
           py::arg("own_clock") = false, py::arg("accept_nonfinite") = false, py::arg("sync") = "",
           py::arg("apply") = "", py::arg("optimizer") = "", py::arg("first") = 0, py::arg("second") = 0)
      .def(
          "start", [](Client& c) { Check(c.worker().Start()); }, NoGil())
      .def(
          "broadcast",
          [](Client& c, std::uint32_t table, Address values, std::size_t elements) {
            Check(c.worker().Broadcast(TableId(table), Floats(values, elements)));
          },
          NoGil())
      .def(
          "update",
          [](Client& c, std::uint32_t table, Address gradient, std::size_t elements, const Hyper& hyper,
             std::uint32_t samples) {
            return c.Lend(TableId(table), gradient, elements, hyper, samples, false);
          },
          NoGil())
      .def(
          "push",
          [](Client& c, std::uint32_t table, Address gradient, std::size_t elements, const Hyper& hyper,
             std::uint32_t samples) {
            return c.Lend(TableId(table), gradient, elements, hyper, samples, true);
          },
          NoGil())
      .def(
          "pull",
          [](Client& c, std::uint32_t table, Address values, std::size_t elements) {
            return Check(c.worker().Pull(
                TableId(table), {reinterpret_cast<float*>(values), elements}));  // NOLINT: data_ptr()
          },
          NoGil())
      .def(
          "wait", [](Client& c, Ticket ticket) { Check(c.worker().Wait(ticket)); }, NoGil())
      .def("done", [](Client& c, Ticket ticket) { return c.worker().Done(ticket); })
      .def(
          "clock", [](Client& c) { Check(c.worker().Clock()); }, NoGil())
      .def(
          "sync",
          [](Client& c, std::uint32_t table) {
            return reinterpret_cast<Address>(Check(c.worker().Sync(TableId(table))).data());
          },
          NoGil())
      .def("ready", [](Client& c, std::uint32_t table) { return c.worker().Ready(TableId(table)); })
      .def(
          "barrier", [](Client& c, const std::string& name) { Check(c.worker().Barrier(name)); }, NoGil())
      .def(
          "lease_batches",
          [](Client& c, const std::string& pool, std::uint64_t batches, std::uint32_t wanted) {
            return Check(c.worker().LeaseBatches(pool, batches, wanted)).batches;
          },
          NoGil())
      .def(
          "leave", [](Client& c) { Check(c.worker().Leave()); }, NoGil())
      .def(
          "finish", [](Client& c) { Check(c.worker().Finish()); }, NoGil())
      .def(
          "shutdown", [](Client& c) { Check(c.worker().Shutdown()); }, NoGil())
      .def("counters", [](Client& c) { return Figures(c.worker().counters()); })
      .def(
          "set_figure",
          [](Client& c, const std::string& name, double value) { c.worker().SetFigure(name, value); },
          NoGil())
      .def(
          "waiting_for", [](Client& c) { return c.worker().WaitingFor(); }, NoGil());
}
