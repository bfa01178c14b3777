#include "node/worker/array_writes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

bool ShareMemory(std::span<const float> a, std::span<const float> b) {
  const std::less<const float*> before;  // of pointers into different arrays too
  return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

}  // namespace

ArrayWrites::ArrayWrites(Arena& arena, std::function<void(WorkerTable&)> freed)
    : arena_(arena), freed_(std::move(freed)) {}

Status ArrayWrites::Broadcast(WorkerTable& table, LentGradient values, Done& done, PushLoans& loans,
                              const ShardPorts& ports) {
  if (values.values.size() != table.elements) {
    return InvalidArgument("table \"{}\": got {} initial values, wanted {}", table.spec.name,
                           values.values.size(), table.elements);
  }
  if (table.init_left > 0)
    return FailedPrecondition("table \"{}\": a broadcast is still under way", table.spec.name);
  Guard(table, values, done);
  const auto lent = loans.Take(table, table.pushed, 0, std::move(values), std::move(done));
  table.init_left = table.blocks.size();
  open_ += table.blocks.size();
  for (WorkerBlock& block : table.blocks) {
    block.init = lent;
    block.init_sent = false;
    ports.Of(block).Touch(block);
  }
  return Status::Ok();
}

void ArrayWrites::OnInitialized(WorkerBlock& block, bool refused, PushLoans& loans) {
  std::shared_ptr<LentPush> lent = std::exchange(block.init, nullptr);
  if (lent == nullptr) return;  // said twice
  --open_;
  --block.table->init_left;
  if (!refused) block.seen = block.term;
  loans.OnInitialized(block, std::move(lent), refused);
}

Status ArrayWrites::Assign(WorkerTable& table, AssignedArray array, LentGradient values, Done& done,
                           Iteration iteration, std::uint64_t steps, PushLoans& loans, ShardPorts& ports) {
  if (table.IsOwnClock()) {
    return FailedPrecondition(
        "table \"{}\" has a clock of its own: only tables of the job's clock "
        "can be set",
        table.spec.name);
  }
  if (values.values.size() != table.elements) {
    return InvalidArgument("table \"{}\": got {} values to set, wanted {}", table.spec.name,
                           values.values.size(), table.elements);
  }
  // Its place in the queue says which iteration comes next. A server that takes over would wait for one that
  // this worker has pushed and does not push again.
  if (table.pushed >= iteration) {
    return FailedPrecondition(
        "table \"{}\" has pushed its gradient of iteration "
        "{}; set it between Clock and the next Push",
        table.spec.name, iteration.value());
  }
  Guard(table, values, done);
  std::shared_ptr<LentPush> lent = loans.Take(table, iteration, steps, std::move(values), std::move(done));
  lent->assigns = array;
  ports.Push(table, std::move(lent));
  return Status::Ok();
}

void ArrayWrites::Guard(WorkerTable& table, LentGradient& offer, Done& done) {
  if (table.IsOwnClock()) return;  // nothing lands in its buffers
  if (!ShareMemory(offer.values, table.pair.Buffer(0)) && !ShareMemory(offer.values, table.pair.Buffer(1)))
    return;
  if (table.pair.BackIsFree() && !ShareMemory(offer.values, table.pair.Back())) {
    // While nothing is published the user cannot swap, and while he cannot swap nothing is written here: not
    // by the values of another rank either, nor by those of later iterations if he gives up waiting.
    ++table.front_lent;
    done = [this, &table, done = std::move(done)](const Status& status) {
      --table.front_lent;
      freed_(table);
      if (done) done(status);
    };
    return;
  }
  // A version waits in the back to be taken, and the front of now may be the next to be written.
  const std::shared_ptr<std::byte> copy = arena_.Allocate(offer.values.size_bytes(), Arena::Use::kSent);
  LW_CHECK(copy != nullptr, "out of memory: wanted {} bytes", offer.values.size_bytes());
  auto* const floats = reinterpret_cast<float*>(copy.get());
  std::ranges::copy(offer.values, floats);
  offer.values = {floats, offer.values.size()};
  offer.pin = copy;
}

}  // namespace leeway
