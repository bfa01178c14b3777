// Sets and reads the servers' arrays outside of any iteration: values, and the optimizer's state.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "leeway/arena.h"
#include "process/worker_client.h"

namespace leeway {

Status WorkerClient::PinOrCopy(const Table& table, const char* what, std::span<const float>& values,
                               std::shared_ptr<const void>& pin) {
  if (pin != nullptr) return Status::Ok();
  std::shared_ptr<std::byte> copy = thread_->env().arena.Allocate(values.size_bytes(), Arena::Use::kSent);
  if (copy == nullptr) {
    return ResourceExhausted("table \"{}\": no memory for a copy of its {}, {} bytes", table.spec.name, what,
                             values.size_bytes());
  }
  auto* const floats = reinterpret_cast<float*>(copy.get());
  std::ranges::copy(values, floats);
  values = {floats, values.size()};
  pin = std::move(copy);
  return Status::Ok();
}

Status WorkerClient::Assign(TableId id, std::span<const float> values, std::shared_ptr<const void> pin) {
  return AssignArray(id, {}, values, std::move(pin));
}

Status WorkerClient::AssignArray(TableId id, AssignedArray array, std::span<const float> values,
                                 std::shared_ptr<const void> pin) {
  LW_RETURN_IF_ERROR(CheckMember());
  LW_ASSIGN_OR_RETURN(const Table* table, FindStarted(id));
  if (values.size() != table->elements) {
    return InvalidArgument("table \"{}\": got {} values to set, wanted {}", table->spec.name, values.size(),
                           table->elements);
  }
  LW_RETURN_IF_ERROR(PinOrCopy(*table, "new values", values, pin));
  // The node holds the only pin, so that the pin is gone when the call returns.
  return CallAndWait(
      [id, array, values, pin = std::move(pin)](WorkerNode& node, leeway::Done done) mutable {
        node.Assign(id, array, {values, std::move(pin), {}, 1}, std::move(done));
      },
      fmt::format("setting table \"{}\"", table->spec.name));
}

Result<TableState> WorkerClient::ReadArrays(TableId id, ArraysWanted wanted) {
  LW_RETURN_IF_ERROR(CheckAlive());
  LW_ASSIGN_OR_RETURN(const Table* table, FindStarted(id));
  auto got = std::make_shared<TableState>();  // shared: the call may outlive a wait that is broken off
  LW_RETURN_IF_ERROR(CallAndWait(
      [id, wanted, got](WorkerNode& node, const leeway::Done& done) {
        node.ReadArrays(id, wanted, [got, done](const Status& status, TableState state) {
          *got = std::move(state);
          done(status);
        });
      },
      fmt::format("reading table \"{}\"", table->spec.name)));
  return std::move(*got);
}

Result<std::vector<float>> WorkerClient::ReadValues(TableId id, bool even_if_known) {
  LW_ASSIGN_OR_RETURN(TableState got,
                      ReadArrays(id, even_if_known ? ArraysWanted::kValues : ArraysWanted::kNewerValues));
  if (got.arrays.empty()) return std::vector<float>();
  return std::move(got.arrays.front());
}

Result<TableState> WorkerClient::ReadState(TableId id) { return ReadArrays(id, ArraysWanted::kState); }

Status WorkerClient::WriteState(TableId id, const TableState& state) {
  if (state.arrays.size() > kOptimizerSlotsMax) {
    return InvalidArgument("table {}: got a state of {} arrays, wanted at most {}", id.value(),
                           state.arrays.size(), kOptimizerSlotsMax);
  }
  for (std::size_t i = 0; i < state.arrays.size(); ++i) {
    const AssignedArray array{static_cast<std::uint8_t>(i + 1), state.steps};
    LW_RETURN_IF_ERROR(AssignArray(id, array, state.arrays[i], nullptr));
  }
  return Status::Ok();
}

}  // namespace leeway
