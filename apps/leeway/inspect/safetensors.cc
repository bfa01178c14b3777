#include "inspect/safetensors.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "base/file_error.h"
#include "inspect/checkpoint_folder.h"

namespace leeway::app {
namespace {

static_assert(std::endian::native == std::endian::little, "the values of the file are little-endian");

constexpr std::size_t kAlignment = 8;  // of the values; spaces at the end of the header fill up to it

// leeway.torch makes these for broadcasts, metrics and buffers. Their names are followed by numbers or texts.
bool IsOfClient(const TableSpec& spec) {
  const std::string_view name = spec.name;
  const auto numbered = [name](std::string_view prefix) {
    return name.starts_with(prefix) && name.size() > prefix.size() &&
           std::ranges::all_of(name.substr(prefix.size()), [](char c) { return c >= '0' && c <= '9'; });
  };
  return spec.clock == TableClock::kOwn &&
         (name.starts_with("push_pull/") || numbered("broadcast.") || numbered("buffers."));
}

std::string HeaderOf(const std::vector<const ManifestTable*>& tables) {
  nlohmann::ordered_json header{{"__metadata__", {{"format", "pt"}}}};
  std::uint64_t at = 0;
  for (const ManifestTable* table : tables) {
    const std::uint64_t end = at + table->spec.elements() * sizeof(float);
    header[table->spec.name] = {{"dtype", "F32"}, {"shape", table->spec.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

Status WriteValues(const std::string& checkpoint, const Manifest& manifest, const ManifestTable& table,
                   std::ofstream& file) {
  std::vector<float> values(table.spec.elements());
  for (const ManifestBlock& block : table.blocks) {
    LW_ASSIGN_OR_RETURN(const BlockRecord record, ReadRecord(checkpoint, manifest, block));
    if (record.state.values == nullptr) continue;
    std::ranges::copy(record.state.values->floats(),
                      values.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  return Status::Ok();
}

Status WriteAll(const std::string& checkpoint, const Manifest& manifest,
                const std::vector<const ManifestTable*>& tables, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  if (!file) return FileError(errno, path);
  const std::string header = HeaderOf(tables);
  const std::uint64_t bytes = header.size();
  file.write(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  file << header;
  for (const ManifestTable* table : tables)
    LW_RETURN_IF_ERROR(WriteValues(checkpoint, manifest, *table, file));
  file.close();
  if (!file) return FileError(errno, path);
  return Status::Ok();
}

}  // namespace

Result<Exported> ExportSafetensors(const std::string& checkpoint, const std::string& out) {
  LW_ASSIGN_OR_RETURN(const Manifest manifest, OpenManifest(checkpoint));
  std::vector<const ManifestTable*> tables;
  for (const ManifestTable& table : manifest.tables) {
    if (IsOfClient(table.spec)) continue;
    if (table.spec.apply.starts_with("relay")) {
      return FailedPrecondition(
          "{}: table \"{}\": got apply=\"{}\", under which servers keep gradients and workers the parameters; "
          "export with python3 -m leeway.checkpoint export, which reads the states of workers",
          checkpoint, table.spec.name, table.spec.apply);
    }
    tables.push_back(&table);
  }
  const std::string unfinished = out + ".tmp";
  std::error_code error;
  if (Status written = WriteAll(checkpoint, manifest, tables, unfinished); !written.ok()) {
    std::filesystem::remove(unfinished, error);
    return written;
  }
  std::filesystem::rename(unfinished, out, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    return FileError(error.value(), out);
  }
  Exported exported{.tables = tables.size()};
  for (const ManifestTable* table : tables) exported.bytes += table->spec.elements() * sizeof(float);
  return exported;
}

}  // namespace leeway::app
