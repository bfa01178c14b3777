#include "node/scheduler/table_check.h"

#include <fmt/ranges.h>

#include "base/errors.h"
#include "node/scheduler/table_registry.h"

namespace leeway {
namespace {

Status CheckShape(const wire::pb::Table& table) {
  std::uint64_t elements = 1;
  for (const std::int64_t d : table.shape()) {
    if (d <= 0) {
      return InvalidArgument("shape [{}]: got a dimension of {}, wanted at least 1",
                             fmt::join(table.shape(), ", "), d);
    }
    // Both factors are at most 2^40 and 2^63: compare before multiplying.
    if (static_cast<std::uint64_t>(d) > TableRegistry::kElementsMax / elements) {
      return ResourceExhausted("shape [{}]: more than {} elements", fmt::join(table.shape(), ", "),
                               TableRegistry::kElementsMax);
    }
    elements *= static_cast<std::uint64_t>(d);
  }
  return Status::Ok();
}

}  // namespace

Result<TableSpec> CheckedSpec(const wire::pb::Table& table) {
  if (table.name().empty() || table.name().size() > TableRegistry::kNameBytesMax) {
    return InvalidArgument("name of {} bytes, wanted 1 to {}", table.name().size(),
                           TableRegistry::kNameBytesMax);
  }
  LW_RETURN_IF_ERROR(CheckShape(table));
  if (table.dtype() != static_cast<std::uint32_t>(DType::kFloat32)) {
    return InvalidArgument("dtype {}, wanted {} (float32)", table.dtype(), static_cast<int>(DType::kFloat32));
  }
  if (table.clock() > static_cast<std::uint32_t>(TableClock::kOwn)) {
    return InvalidArgument("clock {}, wanted 0 (the job's) or 1 (its own)", table.clock());
  }
  if (table.nonfinite() > static_cast<std::uint32_t>(NonFinite::kAccept)) {
    return InvalidArgument("nonfinite {}, wanted 0 (refuse) or 1 (accept)", table.nonfinite());
  }
  TableSpec spec;
  spec.name = table.name();
  spec.shape.assign(table.shape().begin(), table.shape().end());
  spec.clock = static_cast<TableClock>(table.clock());
  spec.nonfinite = static_cast<NonFinite>(table.nonfinite());
  spec.sync = table.sync();
  spec.apply = table.apply();
  spec.optimizer = table.optimizer();
  return spec;
}

std::optional<std::string> Difference(const TableSpec& got, const TableSpec& wanted) {
  if (got.shape != wanted.shape) {
    return fmt::format("shape: got [{}], wanted [{}]", fmt::join(got.shape, ", "),
                       fmt::join(wanted.shape, ", "));
  }
  const auto text = [](const char* field, const std::string& g,
                       const std::string& w) -> std::optional<std::string> {
    if (g == w) return std::nullopt;
    return fmt::format("{}: got \"{}\", wanted \"{}\"", field, g, w);
  };
  if (auto differs = text("sync", got.sync, wanted.sync)) return differs;
  if (auto differs = text("apply", got.apply, wanted.apply)) return differs;
  if (auto differs = text("optimizer", got.optimizer, wanted.optimizer)) return differs;
  const auto number = [](const char* field, auto g, auto w) -> std::optional<std::string> {
    if (g == w) return std::nullopt;
    return fmt::format("{}: got {}, wanted {}", field, static_cast<int>(g), static_cast<int>(w));
  };
  if (auto differs = number("dtype", got.dtype, wanted.dtype)) return differs;
  if (auto differs = number("clock", got.clock, wanted.clock)) return differs;
  return number("nonfinite", got.nonfinite, wanted.nonfinite);
}

void FillTable(const TableSpec& spec, wire::pb::Table& out) {
  out.set_name(spec.name);
  out.mutable_shape()->Assign(spec.shape.begin(), spec.shape.end());
  out.set_dtype(static_cast<std::uint32_t>(spec.dtype));
  out.set_clock(static_cast<std::uint32_t>(spec.clock));
  out.set_nonfinite(static_cast<std::uint32_t>(spec.nonfinite));
  out.set_sync(spec.sync);
  out.set_apply(spec.apply);
  out.set_optimizer(spec.optimizer);
}

}  // namespace leeway
