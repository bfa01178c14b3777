// mlp: one hidden layer with ReLU, on images.
#include "problem/image_classifier.h"

namespace leeway::problem {

Result<ProblemPtr> MakeMlp(const PolicyConfig& config, ImageShelf& shelf) {
  LW_ASSIGN_OR_RETURN(ImageTask task, AskImageTask(config, shelf));
  LW_ASSIGN_OR_RETURN(const std::int64_t hidden, config.IntInRange("hidden", 1, 100'000, 64));
  const std::vector<ImageClassifier::Layer> layers = {{"hidden.", static_cast<std::size_t>(hidden)},
                                                      {"out.", kImageClasses}};
  return MakeImageClassifier(config, std::move(task), layers);
}

}  // namespace leeway::problem
