#include "problem/layer_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include "base/errors.h"
#include "base/file_error.h"

namespace leeway::problem {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kLayersEnding = ".layers";

// Takes the next word off `line`; returns an empty word at its end.
std::string_view TakeWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

// "64x3x7x7", with every extent above zero and the product within its limit.
std::optional<std::vector<std::int64_t>> ParseShape(std::string_view word, const LayerLimits& limits) {
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  const char* at = word.data();
  const char* const end = word.data() + word.size();
  while (true) {
    std::int64_t extent = 0;
    const auto [after, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 1 || extent > limits.elements_max / elements) return std::nullopt;
    elements *= extent;
    shape.push_back(extent);
    if (shape.size() > limits.dimensions_max) return std::nullopt;
    if (after == end) return shape;
    if (*after != 'x') return std::nullopt;
    at = after + 1;
  }
}

// An empty word is 0.
std::optional<std::uint64_t> ParseMultiplyAdds(std::string_view word, const LayerLimits& limits) {
  std::uint64_t number = 0;
  if (word.empty()) return number;
  const auto [after, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || after != word.data() + word.size() || number > limits.multiply_adds_max)
    return std::nullopt;
  return number;
}

}  // namespace

Result<std::vector<Table>> ParseLayers(std::string_view file, std::string_view text,
                                       const LayerLimits& limits) {
  std::vector<Table> tables;
  std::set<std::string_view> names;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    std::string_view line = whole.substr(0, whole.find('#'));
    const std::string_view name = TakeWord(line);
    if (name.empty()) continue;
    std::optional<std::vector<std::int64_t>> shape = ParseShape(TakeWord(line), limits);
    const std::optional<std::uint64_t> multiply_adds = ParseMultiplyAdds(TakeWord(line), limits);
    if (!shape || !multiply_adds || !TakeWord(line).empty() || name.size() > limits.name_bytes_max) {
      return InvalidArgument(
          "layers \"{}\", line {}: got \"{}\", wanted a name of at most {} bytes, a shape of 1 to {} "
          "extents and at most {} elements, and at most {} multiply-adds or nothing, such as: conv1.weight "
          "64x3x7x7 118013952",
          file, number, whole.substr(0, 100), limits.name_bytes_max, limits.dimensions_max,
          limits.elements_max, limits.multiply_adds_max);
    }
    if (!names.insert(name).second) {
      return InvalidArgument("layers \"{}\", line {}: got \"{}\" a second time, wanted it once", file, number,
                             name);
    }
    if (tables.size() == limits.tensors_max) {
      return ResourceExhausted("layers \"{}\", line {}: got more than {} tensors, wanted at most that", file,
                               number, limits.tensors_max);
    }
    tables.push_back({std::string(name), *std::move(shape), *multiply_adds});
  }
  if (tables.empty()) return InvalidArgument("layers \"{}\": got no tensor, wanted one or more", file);
  return tables;
}

Result<std::vector<Table>> ReadLayerFile(const std::string& path, const LayerLimits& limits) {
  LW_RETURN_IF_ERROR(CheckPath(path));
  const std::string what = "cannot read layers \"" + path + "\"";
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return FileError(errno != 0 ? errno : EIO, what);
  std::string text(limits.file_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return FileError(errno != 0 ? errno : EIO, what);
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > limits.file_bytes_max) {
    return ResourceExhausted("layers \"{}\": got more than {} bytes, wanted at most that", path,
                             limits.file_bytes_max);
  }
  return ParseLayers(path, text, limits);
}

Result<std::vector<Table>> ReadModel(const std::string& model) {
  if (model.ends_with(kLayersEnding)) return ReadLayerFile(model);
  std::vector<std::string> known;
  for (const ModelFile& file : ModelFiles()) {
    if (file.name == model) return ParseLayers(file.name, file.text);
    known.emplace_back(file.name);
  }
  return InvalidArgument("model: got \"{}\", wanted one of: {}, or the path of a file that ends in {}{}",
                         model, fmt::join(known, ", "), kLayersEnding, DidYouMean(model, known));
}

}  // namespace leeway::problem
