// Layer files: name and shape of every parameter tensor of a model, in the order of a forward pass.
//
//   # a comment, to the end of its line
//   conv1.weight 64x3x7x7 118013952
//   conv1.bias 64
//
// The last number is the multiply-adds of the tensor in the forward pass of one sample. A line without it
// has none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"
#include "problem/problem.h"

namespace leeway::problem {

struct LayerLimits {
  std::size_t file_bytes_max = 1U << 20;
  std::size_t tensors_max = 10'000;
  std::size_t name_bytes_max = 256;  // the scheduler's, of a table
  std::size_t dimensions_max = 8;
  std::int64_t elements_max = std::int64_t{1} << 40;         // of one tensor
  std::uint64_t multiply_adds_max = std::uint64_t{1} << 50;  // so that their sum over all tensors fits
};

// `file` is for messages, which also name the line.
[[nodiscard]] Result<std::vector<Table>> ParseLayers(std::string_view file, std::string_view text,
                                                     const LayerLimits& limits = {});
[[nodiscard]] Result<std::vector<Table>> ReadLayerFile(const std::string& path,
                                                       const LayerLimits& limits = {});

// The files of src/problem/models, which are part of the program.
struct ModelFile {
  std::string_view name;  // "resnet50"
  std::string_view text;
};
[[nodiscard]] std::span<const ModelFile> ModelFiles();
// The tensors of a model: of a file of the program by its name, or of the file at a path that ends in
// ".layers". An error lists the known names.
[[nodiscard]] Result<std::vector<Table>> ReadModel(const std::string& model);

}  // namespace leeway::problem
