#include "problem/image_classifier.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/hash.h"
#include "problem/cross_entropy.h"

namespace leeway::problem {
namespace {

// The purpose of a hash, so that no two purposes see the same draws.
enum ImageDraw : std::uint64_t { kWeightDraw = 0x61, kSampleDraw = 0x62 };

// Independent of the batch, so that a judgement depends on the parameters alone.
constexpr std::size_t kJudgedRows = 250;

std::vector<std::size_t> SizesOf(const ImageTask& task, const std::vector<ImageClassifier::Layer>& layers) {
  std::vector<std::size_t> sizes = {task.images->train.image_bytes};
  for (const ImageClassifier::Layer& layer : layers) sizes.push_back(layer.outputs);
  LW_CHECK(sizes.back() == kImageClasses, "{} outputs", sizes.back());
  return sizes;
}

// Of the parameters, and of the activations of a batch and their gradients.
std::uint64_t BytesOf(const std::vector<std::size_t>& sizes, std::uint64_t batch) {
  std::uint64_t floats = batch * sizes[0];
  for (std::size_t i = 1; i < sizes.size(); ++i)
    floats += (sizes[i - 1] + 1) * sizes[i] + 2 * batch * sizes[i];
  return floats * sizeof(float);
}

// Picks one of `count`, with equal chances up to one part in 2^32 / count.
std::size_t Pick(std::size_t count, std::uint64_t bits) {
  return static_cast<std::size_t>(((bits >> 32) * static_cast<std::uint64_t>(count)) >> 32);
}

}  // namespace

Result<ImageTask> AskImageTask(const PolicyConfig& config, ImageShelf& shelf) {
  const std::vector<ImageSource> sources = ImageSources();
  std::vector<std::string> names;
  names.reserve(sources.size());
  for (const ImageSource& source : sources) names.push_back(source.name);
  LW_ASSIGN_OR_RETURN(const std::string data, config.OneOf("data", names, sources.front().name));
  LW_ASSIGN_OR_RETURN(const std::int64_t batch, config.IntInRange("batch", 1, 100'000, 32));
  ImageTask task;
  task.source = *std::ranges::find(sources, data, &ImageSource::name);
  task.batch = static_cast<std::uint32_t>(batch);
  LW_ASSIGN_OR_RETURN(const std::string folder,
                      config.KeyedText("folder", "the folder of its files", task.source.folder));
  Result<ImageSetsPtr> images = shelf.Get(task.source, folder);
  if (!images.ok()) {
    const Status& status = images.status();
    return Status(status.code(), "problem \"" + config.name() + "\": " + data + ": " + status.message() +
                                     " (" + task.source.how_to_get + "; folder=... names another folder)");
  }
  task.images = *std::move(images);
  const auto judged_max = static_cast<std::int64_t>(task.images->test.size());
  LW_ASSIGN_OR_RETURN(const std::int64_t judged, config.KeyedIntInRange("judge", 1, judged_max, judged_max));
  task.judged = static_cast<std::size_t>(judged);
  return task;
}

Result<ProblemPtr> MakeImageClassifier(const PolicyConfig& config, ImageTask task,
                                       const std::vector<ImageClassifier::Layer>& layers) {
  const std::vector<std::size_t> sizes = SizesOf(task, layers);
  const std::uint64_t bytes = BytesOf(sizes, task.batch);
  if (bytes > kProblemBytesMax) {
    return ResourceExhausted(
        "problem \"{}\": layers of {} outputs with a batch of {}: got {} bytes of parameters and "
        "activations, wanted at most {}",
        config.name(), fmt::join(sizes.begin() + 1, sizes.end(), " and "), task.batch, bytes,
        kProblemBytesMax);
  }
  return ProblemPtr(std::make_unique<ImageClassifier>(std::move(task), layers));
}

ImageClassifier::ImageClassifier(ImageTask task, const std::vector<Layer>& layers)
    : task_(std::move(task)),
      sizes_(SizesOf(task_, layers)),
      network_(sizes_, task_.batch),
      labels_(task_.batch) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto outputs = static_cast<std::int64_t>(layers[i].outputs);
    tables_.push_back({layers[i].prefix + "weight", {outputs, static_cast<std::int64_t>(sizes_[i])}});
    tables_.push_back({layers[i].prefix + "bias", {outputs}});
  }
}

// Biases begin with zeros. Weights do too where there is no hidden layer, as the loss is convex then; else
// they are uniform with the variance 2 / inputs, which keeps the scale of the activations (He et al. 2015).
void ImageClassifier::Begin(std::uint64_t seed, MutableValues values) const {
  for (const std::span<float> table : values) std::ranges::fill(table, 0.0F);
  if (sizes_.size() == 2) return;
  for (std::size_t layer = 0; layer + 1 < sizes_.size(); ++layer) {
    const double bound = std::sqrt(6.0 / static_cast<double>(sizes_[layer]));
    const std::span<float> weight = values[2 * layer];
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const double unit = UnitInterval(Hash64({kWeightDraw, seed, layer, i}));
      weight[i] = static_cast<float>(bound * (2.0 * unit - 1.0));
    }
  }
}

double ImageClassifier::Gradient(const BatchKey& batch, Values at, MutableValues gradient) {
  const ImageSet& train = task_.images->train;
  for (std::uint32_t i = 0; i < task_.batch; ++i) {
    const std::size_t drawn =
        Pick(train.size(), Hash64({kSampleDraw, batch.seed, batch.rank, batch.step, i}));
    WriteImage(train.image(drawn), network_.input().subspan(i * sizes_[0], sizes_[0]));
    labels_[i] = train.labels[drawn];
  }
  const std::span<const float> scores = network_.Forward(at, task_.batch);
  const CrossEntropy measured =
      MeasureCrossEntropy({scores, labels_, kImageClasses}, network_.output_gradient());
  network_.Backward(at, gradient);
  return measured.loss_sum / task_.batch;
}

Judgement ImageClassifier::Judge(Values at) {
  if (judging_.empty()) judging_.emplace_back(sizes_, kJudgedRows);
  DenseNetwork& network = judging_.front();
  const ImageSet& test = task_.images->test;
  Judgement sum;
  for (std::size_t first = 0; first < task_.judged; first += kJudgedRows) {
    const std::size_t rows = std::min(kJudgedRows, task_.judged - first);
    for (std::size_t i = 0; i < rows; ++i) {
      WriteImage(test.image(first + i), network.input().subspan(i * sizes_[0], sizes_[0]));
    }
    const CrossEntropy measured = MeasureCrossEntropy(
        {network.Forward(at, rows), std::span(test.labels).subspan(first, rows), kImageClasses});
    sum.loss += measured.loss_sum;
    sum.accuracy += static_cast<double>(measured.right);
  }
  const auto judged = static_cast<double>(task_.judged);
  return {sum.loss / judged, sum.accuracy / judged};
}

void ImageClassifier::WriteImage(std::span<const std::uint8_t> pixels, std::span<float> into) const {
  const float scale = 1.0F / (255.0F * task_.source.deviation);
  const float shift = task_.source.mean / task_.source.deviation;
  for (std::size_t i = 0; i < pixels.size(); ++i) into[i] = static_cast<float>(pixels[i]) * scale - shift;
}

}  // namespace leeway::problem
