// softmax: softmax regression on images, a convex problem.
#include "problem/image_classifier.h"

namespace leeway::problem {

Result<ProblemPtr> MakeSoftmax(const PolicyConfig& config, ImageShelf& shelf) {
  LW_ASSIGN_OR_RETURN(ImageTask task, AskImageTask(config, shelf));
  const std::vector<ImageClassifier::Layer> layers = {{"", kImageClasses}};
  return MakeImageClassifier(config, std::move(task), layers);
}

}  // namespace leeway::problem
