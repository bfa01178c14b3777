// ghost: only the sizes of a real model, for runs in which bytes and times matter. One element stands for
// `grain` elements of the model, so that a simulation of VGG16 does not move half a gigabyte for each worker.
#include "problem/ghost.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "base/policy_config.h"
#include "problem/cut_tables.h"
#include "problem/image_shelf.h"
#include "problem/layer_file.h"
#include "problem/problem.h"

namespace leeway::problem {
namespace {

// The number of problem elements that stand for a tensor of the model.
std::int64_t GrainsOf(const Table& tensor, std::uint32_t grain) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : tensor.shape) elements *= extent;
  return (elements + grain - 1) / grain;
}

class Ghost final : public Problem {
 public:
  Ghost(std::vector<Table> model, std::uint32_t grain, std::uint32_t batch)
      : tables_(std::move(model)), grain_(grain), batch_(batch) {
    for (Table& table : tables_) table.shape = {GrainsOf(table, grain)};
  }

  const std::vector<Table>& tables() const override { return tables_; }
  std::uint32_t grain() const override { return grain_; }
  std::uint32_t batch() const override { return batch_; }

  void Begin(std::uint64_t, MutableValues values) const override {
    for (const std::span<float> table : values) std::ranges::fill(table, 0.0F);
  }

  double Gradient(const BatchKey&, Values, MutableValues gradient) override {
    for (const std::span<float> table : gradient) std::ranges::fill(table, kSlope);
    return std::numeric_limits<double>::quiet_NaN();
  }

  // All tables share the memory of the largest. The first call allocates it: a problem that is only checked
  // needs no memory.
  Values FixedGradient() override {
    if (!fixed_.empty()) return fixed_;
    const auto elements = [](const Table& table) { return static_cast<std::size_t>(table.shape[0]); };
    slopes_.assign(elements(*std::ranges::max_element(tables_, {}, elements)), kSlope);
    for (const Table& table : tables_)
      fixed_.push_back(std::span<const float>(slopes_).first(elements(table)));
    return fixed_;
  }

  Judgement Judge(Values) override {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }

 private:
  // Not zero, so that a reader of the values sees that something was pushed.
  static constexpr float kSlope = 1e-3F;

  std::vector<Table> tables_;
  const std::uint32_t grain_;
  const std::uint32_t batch_;
  std::vector<float> slopes_;
  std::vector<std::span<const float>> fixed_;  // by table, in slopes_
};

// Layer files bound the elements of a tensor and the number of tensors, so that their sum fits.
Status CheckGhostBytes(const std::vector<Table>& tensors, std::uint32_t grain, const PolicyConfig& config) {
  std::uint64_t bytes = 0;
  for (const Table& tensor : tensors)
    bytes += static_cast<std::uint64_t>(GrainsOf(tensor, grain)) * sizeof(float);
  if (bytes <= kProblemBytesMax) return Status::Ok();
  return ResourceExhausted(
      "problem \"{}\": grain: got {}, with which the model has {} bytes of parameters, wanted one with which "
      "it has at most {}",
      config.name(), grain, bytes, kProblemBytesMax);
}

}  // namespace

ProblemPtr NewGhost(std::vector<Table> model, std::uint32_t grain, std::uint32_t batch) {
  return std::make_unique<Ghost>(std::move(model), grain, batch);
}

Result<ProblemPtr> MakeGhost(const PolicyConfig& config, ImageShelf&) {
  LW_ASSIGN_OR_RETURN(const std::string model, config.Text("model", "the name of a model, such as resnet50"));
  LW_ASSIGN_OR_RETURN(const std::int64_t grain, config.IntInRange("grain", 1, 1'000'000'000, 1'024));
  LW_ASSIGN_OR_RETURN(const std::int64_t batch, config.IntInRange("batch", 1, 1'000'000, 32));
  LW_ASSIGN_OR_RETURN(const std::int64_t cut, config.IntInRange("cut", 1, kCutMax, 1));
  Result<std::vector<Table>> read = ReadModel(model);
  if (!read.ok()) return read.status().WithContext(fmt::format("problem \"{}\"", config.name()));
  std::vector<Table> tensors = CutTables(*read, static_cast<std::uint32_t>(cut));
  LW_RETURN_IF_ERROR(CheckGhostBytes(tensors, static_cast<std::uint32_t>(grain), config));
  return NewGhost(std::move(tensors), static_cast<std::uint32_t>(grain), static_cast<std::uint32_t>(batch));
}

}  // namespace leeway::problem
