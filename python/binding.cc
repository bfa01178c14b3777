// _leeway: leeway::Worker for Python. Every decision is in python/leeway or in src/process.
//
// Tensors come as addresses and sizes (data_ptr(), numel()); Python keeps them alive. Every call that may
// block or contend releases Python's lock. The worker's loop touches no Python object: a token of Client pins
// a gradient that Python lends, and Python asks (Loan.released) whether the worker has dropped it. Initial
// values are pinned by their own memory.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/spec.h"
#include "checkpoint/checksum.h"
#include "client.h"
#include "dlpack_capsule.h"
#include "exchange/exchanges.h"
#include "leeway/trace.h"
#include "leeway/worker.h"
#include "status_error.h"
#include "sync/pull_policy.h"

namespace py = pybind11;

namespace leeway {
namespace {

using NoGil = py::call_guard<py::gil_scoped_release>;
using WorkerClass = py::class_<Client>;

// The most elements of one tensor: 4 TiB.
constexpr std::int64_t kElementsMax = std::int64_t{1} << 40;

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
  const TableBuffers buffers{Floats(first, 0).data(), Floats(second, 0).data()};
  return Check(client.worker()->CreateTable(spec, buffers)).value();
}

// Allocates memory for one contiguous tensor.
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

// Verbs of Worker without an argument, and with a text.
template <Status (Worker::*kVerb)()>
void Do(Client& c) {
  Check((*c.worker().*kVerb)());
}

template <Status (Worker::*kVerb)(const std::string&)>
void DoWith(Client& c, const std::string& text) {
  Check((*c.worker().*kVerb)(text));
}

// `lent` is the memory of the values; without it the worker copies them.
template <Status (Worker::*kVerb)(TableId, std::span<const float>, std::shared_ptr<const void>)>
void GiveValues(Client& c, std::uint32_t table, Address values, std::size_t elements,
                const ArenaMemory* lent) {
  Check((*c.worker().*kVerb)(TableId(table), Floats(values, elements),
                             lent == nullptr ? nullptr : lent->pin()));
}

// Copies the servers' values to a tensor; false if the servers have nothing newer. REQUIRES (here and below):
// tensors of as many elements as the table has.
bool ReadValues(Client& client, std::uint32_t table, Address values, std::size_t elements,
                bool even_if_known) {
  const std::vector<float> read = Check(client.worker()->ReadValues(TableId(table), even_if_known));
  std::copy_n(read.begin(), std::min(read.size(), elements), Floats(values, elements).begin());
  return !read.empty();
}

// Copies the optimizer's arrays to tensors; returns how often it has run.
std::uint64_t ReadState(Client& client, std::uint32_t table, const std::vector<Address>& arrays,
                        std::size_t elements) {
  const TableState state = Check(client.worker()->ReadState(TableId(table)));
  if (state.arrays.size() != arrays.size()) {
    throw StatusError(FailedPrecondition("the optimizer's state of table {}: got {} arrays, wanted {}", table,
                                         state.arrays.size(), arrays.size()));
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::vector<float>& from = state.arrays[i];
    std::copy_n(from.begin(), std::min(from.size(), elements), Floats(arrays[i], elements).begin());
  }
  return state.steps;
}

void WriteState(Client& client, std::uint32_t table, std::uint64_t steps, const std::vector<Address>& arrays,
                std::size_t elements) {
  TableState state{.steps = steps, .arrays = {}};
  for (const Address array : arrays) {
    const std::span<float> from = Floats(array, elements);
    state.arrays.emplace_back(from.begin(), from.end());
  }
  Check(client.worker()->WriteState(TableId(table), state));
}

py::dict DictOf(const WorkerCounters& c) {
  py::dict d;
  for (const auto& [name, count] : kWorkerCounts) d[name] = c.*count;
  d["connected_over"] = c.connected_over;
  d["wait_s"] = static_cast<double>(c.wait_ns) * 1e-9;
  d["lead"] = c.lead;
  py::dict waits;
  for (const auto& [cause, ns] : c.wait_by_ns) waits[py::str(cause)] = static_cast<double>(ns) * 1e-9;
  d["wait_by_s"] = waits;
  return d;
}

void BindSpecs(py::module_& m) {
  // True if two specs mean the same, however they are written. Raises for a text that is no spec.
  m.def("same_pull", [](const std::string& a, const std::string& b) {
    return Check(ParsePullPolicy(a)) == Check(ParsePullPolicy(b));
  });
  m.def("same_exchange", [](const std::string& a, const std::string& b) {
    const Registry<ExchangePolicy> exchanges = BuiltinExchanges();
    const auto meaning = [&exchanges](const std::string& text) {
      Spec spec = Check(ParseSpec(text));
      // The job refuses what nobody knows. A plug-in's policy is compared as it is written.
      if (exchanges.Has(spec.terms[0].name)) (void)Check(exchanges.MakeFromSpec(text, &spec.terms[0]));
      return spec;
    };
    return meaning(a) == meaning(b);
  });
}

// Raises the exception that leeway.errors makes of a Status.
void RaiseInPython(const Status& status) {
  if (PyErr_Occurred() != nullptr) return;  // a signal handler has raised: Client
  const py::object error = py::module_::import("leeway.errors")
                               .attr("from_status")(std::string(StatusCodeName(status.code())),
                                                    status.message(), ExitCode(status));
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
}

void BindErrors() {
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const StatusError& e) {
      RaiseInPython(e.status);
    }
  });
}

void BindHyper(py::module_& m) {
  py::class_<Hyper>(m, "Hyper")
      .def(py::init<float, float, float, float, float, float>(), py::arg("lr"),
           py::arg("weight_decay") = 0.0F, py::arg("momentum") = 0.0F, py::arg("beta2") = 0.999F,
           py::arg("eps") = 1e-8F, py::arg("dampening") = 0.0F);
}

void BindLoan(py::module_& m) {
  py::class_<Loan>(m, "Loan").def_readonly("ticket", &Loan::ticket).def("released", [](const Loan& loan) {
    return loan.pin.expired();
  });
}

void BindArenaMemory(py::module_& m) {
  py::class_<ArenaMemory>(m, "ArenaMemory")
      .def_property_readonly("address", &ArenaMemory::address)
      .def("capsule", &ArenaMemory::Capsule);
  // By the checksum of a tensor's memory Python notices writes.
  m.def("checksum", [](Address address, std::size_t elements) {
    return ChecksumOf(std::as_bytes(Floats(address, elements)));
  });
}

void BindMembership(WorkerClass& type) {
  type.def_static("join", &Client::Join, NoGil(), py::arg("scheduler"), py::arg("job"), py::arg("rank"),
                  py::arg("wait_max_s"), py::arg("transport") = "auto", py::arg("record") = false,
                  py::arg("secret_file") = "", py::arg("insecure") = false, py::arg("trace") = "",
                  py::arg("trace_steps") = "", py::arg("plugins") = std::vector<std::string>())
      .def_static("alone", &Client::Alone, NoGil(), py::arg("sync"), py::arg("apply"), py::arg("block_bytes"),
                  py::arg("wait_max_s"), py::arg("pull") = "full", py::arg("exchange") = "every:1",
                  py::arg("rules") = std::vector<std::string>(),
                  py::arg("plugins") = std::vector<std::string>(), py::arg("priorities") = true,
                  py::arg("pull_at") = "ready")
      .def("close", &Client::Close, NoGil())
      .def_property_readonly("rank", [](Client& c) { return c.worker()->rank().value(); })
      .def_property_readonly("size", [](Client& c) { return c.worker()->size(); })
      .def_property_readonly("job_sync", [](Client& c) { return c.worker()->job().sync; })
      .def_property_readonly("job_apply", [](Client& c) { return c.worker()->job().apply; })
      .def_property_readonly("job_pull", [](Client& c) { return c.worker()->job().pull; })
      .def_property_readonly("job_exchange", [](Client& c) { return c.worker()->job().exchange; })
      .def_property_readonly("goes_on", [](Client& c) { return c.worker()->goes_on(); })
      .def("may_meet", &DoWith<&Worker::MayMeet>, NoGil())
      .def("barrier", &DoWith<&Worker::Barrier>, NoGil())
      .def(
          "set_sync", [](Client& c, const std::string& rule) { return Check(c.worker()->SetSync(rule)); },
          NoGil())
      .def("leave", &Do<&Worker::Leave>, NoGil())
      .def("finish", &Do<&Worker::Finish>, NoGil())
      .def("shutdown", &Do<&Worker::Shutdown>, NoGil());
}

void BindTables(WorkerClass& type) {
  type.def("allocate", &Allocate, NoGil(), py::arg("shape"), py::arg("strides"))
      .def("create_table", &CreateTable, NoGil(), py::arg("name"), py::arg("shape"),
           py::arg("own_clock") = false, py::arg("accept_nonfinite") = false, py::arg("sync") = "",
           py::arg("apply") = "", py::arg("optimizer") = "", py::arg("first") = 0, py::arg("second") = 0,
           py::arg("group") = 0)
      .def("start", &Do<&Worker::Start>, NoGil())
      .def("broadcast", &GiveValues<&Worker::Broadcast>, NoGil(), py::arg("table"), py::arg("values"),
           py::arg("elements"), py::arg("lent") = nullptr)
      .def("assign", &GiveValues<&Worker::Assign>, NoGil(), py::arg("table"), py::arg("values"),
           py::arg("elements"), py::arg("lent") = nullptr)
      .def("read_values", &ReadValues, NoGil())
      .def("read_state", &ReadState, NoGil())
      .def("write_state", &WriteState, NoGil());
}

void BindIterations(WorkerClass& type) {
  type.def("iteration", [](Client& c) { return c.worker()->iteration().value(); })
      .def(
          "push",
          [](Client& c, std::uint32_t table, Address gradient, std::size_t elements, const Hyper& hyper,
             std::uint32_t samples) {
            return c.PushAll({{table, gradient, elements, hyper, samples, HUGE_VAL}}).front();
          },
          NoGil())
      .def("push_all", &Client::PushAll, NoGil())
      .def(
          "clock",
          [](Client& c, std::optional<std::uint32_t> group) {
            const std::shared_ptr<Worker> worker = c.worker();
            Check(group ? worker->Clock(*group) : worker->Clock());
            return worker->StateWanted();
          },
          NoGil(), py::arg("group") = py::none())
      .def(
          "sync",
          // 0: no rank has given a gradient (apply relay).
          [](Client& c, std::uint32_t table) {
            const std::span<const float> values = Check(c.worker()->Sync(TableId(table)));
            return values.empty() ? Address{0} : reinterpret_cast<Address>(values.data());
          },
          NoGil())
      .def(
          "lease_batches",
          [](Client& c, const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
             const std::vector<std::int64_t>& used) {
            const std::vector<Iteration> iterations(used.begin(), used.end());
            return Check(c.worker()->LeaseBatches(pool, batches, wanted, iterations)).batches;
          },
          NoGil());
}

// Calls on tables with their own clock, and the outcomes of asynchronous calls.
void BindTickets(WorkerClass& type) {
  type.def(
          "pull",
          [](Client& c, std::uint32_t table, Address values, std::size_t elements) {
            return Check(c.worker()->Pull(TableId(table), Floats(values, elements)));
          },
          NoGil())
      .def(
          "push_pull",
          [](Client& c, std::uint32_t table, Address gradient, Address values, std::size_t elements,
             const Hyper& hyper, std::uint32_t samples) {
            return c.PushPull(TableId(table), Floats(gradient, elements), Floats(values, elements), hyper,
                              samples);
          },
          NoGil())
      .def(
          "wait", [](Client& c, Ticket ticket) { Check(c.worker()->Wait(ticket)); }, NoGil())
      .def("done", [](Client& c, Ticket ticket) { return c.worker()->Done(ticket); });
}

void BindRankState(WorkerClass& type) {
  type.def("state_wanted", [](Client& c) { return c.worker()->StateWanted(); })
      .def("give_state",
           [](Client& c, const py::bytes& state) {
             const auto bytes = std::as_bytes(std::span(static_cast<std::string_view>(state)));
             std::vector<std::byte> copy(bytes.begin(), bytes.end());
             const py::gil_scoped_release no_gil;
             Check(c.worker()->GiveState(std::move(copy)));
           })
      .def("restored_state", [](Client& c) -> py::object {
        const std::span<const std::byte> state = c.worker()->RestoredState();
        if (state.empty()) return py::none();
        return py::bytes(reinterpret_cast<const char*>(state.data()), state.size());
      });
}

// The trace of `leeway run --trace`. Times are those of time.perf_counter(), which is CLOCK_MONOTONIC.
void BindTrace(WorkerClass& type) {
  type.def_property_readonly("has_trace", [](Client& c) { return c.worker()->trace() != nullptr; })
      // Whether events of this iteration are wanted.
      .def("trace_wants",
           [](Client& c) {
             const std::shared_ptr<Worker> worker = c.worker();
             return worker->trace() != nullptr && worker->trace()->Wants(worker->iteration());
           })
      .def("trace_module",
           [](Client& c, bool backward, const std::string& module, double began_s, double ended_s) {
             const std::shared_ptr<Worker> worker = c.worker();
             if (worker->trace() == nullptr) return;
             const auto at = [](double s) {
               return TimePoint(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s)));
             };
             worker->trace()->Add({.kind = TraceEvent::Kind::kSlice,
                                   .name = backward ? "backward" : "forward",
                                   .of = module,
                                   .iteration = worker->iteration(),
                                   .at = at(began_s),
                                   .until = at(ended_s),
                                   .track = Trace::kModulesTrack});
           });
}

void BindFigures(WorkerClass& type) {
  type.def("counters",
           [](Client& c) {
             WorkerCounters counters;
             {
               const py::gil_scoped_release no_gil;  // counters() may wait for the I/O thread
               counters = c.worker()->counters();
             }
             return DictOf(counters);
           })
      .def(
          "set_figure",
          [](Client& c, const std::string& name, double value) { c.worker()->SetFigure(name, value); },
          NoGil());
}

}  // namespace
}  // namespace leeway

PYBIND11_MODULE(_leeway, m) {
  using namespace leeway;  // NOLINT(google-build-using-namespace): one binding file
  m.attr("__version__") = LEEWAY_VERSION;
  BindErrors();
  BindSpecs(m);
  BindHyper(m);
  BindLoan(m);
  BindArenaMemory(m);
  WorkerClass worker(m, "Worker");
  BindMembership(worker);
  BindTables(worker);
  BindIterations(worker);
  BindTickets(worker);
  BindRankState(worker);
  BindTrace(worker);
  BindFigures(worker);
}
