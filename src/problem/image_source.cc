#include "problem/image_source.h"

#include "problem/cifar_set.h"
#include "problem/idx_set.h"

namespace leeway::problem {

std::vector<ImageSource> ImageSources() {
  return {{"fashion-mnist", ReadIdxSets, "/usr/share/datasets/fashion-mnist",
           "apt-get install dataset-fashion-mnist puts it into /usr/share/datasets/fashion-mnist", 0.2860F,
           0.3530F},
          {"mnist", ReadIdxSets, "data/mnist", "make data-mnist puts it there, below the working folder",
           0.1307F, 0.3081F},
          {"cifar10", ReadCifarSets, "data/cifar10",
           "make data-cifar10 puts it there, below the working folder", 0.4734F, 0.2516F}};
}

}  // namespace leeway::problem
