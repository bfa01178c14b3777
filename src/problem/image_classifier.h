// ImageClassifier: a problem whose workers learn the classes of images with a network of dense layers.
// softmax and mlp share it, and differ only in their layers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/policy_config.h"
#include "problem/dense_network.h"
#include "problem/image_shelf.h"
#include "problem/image_source.h"
#include "problem/problem.h"

namespace leeway::problem {

// The arguments in the spec of every image problem, parsed and checked.
struct ImageTask {
  ImageSetsPtr images;
  ImageSource source;
  std::uint32_t batch = 0;
  std::size_t judged = 0;  // test images
};

// Asks for data, batch, judge and folder; the first two may come without a key.
[[nodiscard]] Result<ImageTask> AskImageTask(const PolicyConfig& config, ImageShelf& shelf);

class ImageClassifier final : public Problem {
 public:
  struct Layer {
    std::string prefix;  // of the names of its tables: "hidden." gives hidden.weight and hidden.bias
    std::size_t outputs;
  };
  // REQUIRES: kImageClasses outputs of the last layer.
  ImageClassifier(ImageTask task, const std::vector<Layer>& layers);

  [[nodiscard]] const std::vector<Table>& tables() const override { return tables_; }
  [[nodiscard]] std::uint32_t batch() const override { return task_.batch; }
  void Begin(std::uint64_t seed, MutableValues values) const override;
  double Gradient(const BatchKey& batch, Values at, MutableValues gradient) override;
  [[nodiscard]] Judgement Judge(Values at) override;

 private:
  // Writes the image's pixels as floats with mean 0 and deviation 1 over the set.
  void WriteImage(std::span<const std::uint8_t> pixels, std::span<float> into) const;

  const ImageTask task_;
  std::vector<Table> tables_;
  std::vector<std::size_t> sizes_;     // of the input and of each layer
  DenseNetwork network_;               // for a batch
  std::vector<std::uint8_t> labels_;   // of a batch
  std::vector<DenseNetwork> judging_;  // none until the first judgement, since not every instance judges
};

// Returns an error if its parameters and the activations of a batch exceed kProblemBytesMax.
[[nodiscard]] Result<ProblemPtr> MakeImageClassifier(const PolicyConfig& config, ImageTask task,
                                                     const std::vector<ImageClassifier::Layer>& layers);

}  // namespace leeway::problem
