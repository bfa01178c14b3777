#include "checkpoint/manifest.h"

#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>

#include "checkpoint/checksum.h"

// Reading is in manifest_reader.cc.
namespace leeway {
namespace {

using OrderedJson = nlohmann::ordered_json;

// One line. The wire carries names as UTF-8. The dump replaces an invalid byte instead of throwing.
std::string Line(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson ToJson(const ManifestBlock& block) {
  return {{"block", block.record.block.value()},
          {"offset", block.offset},
          {"elements", block.elements},
          {"term", block.record.term.value()},
          {"v_train", block.record.v_train.value()},
          {"file", block.file},
          {"record_offset", block.record.offset},
          {"record_bytes", block.record.bytes},
          {"checksum", ChecksumText(block.record.checksum)}};
}

OrderedJson ToJson(const ManifestFile& file) {
  return {{"name", file.name}, {"bytes", file.bytes}, {"checksum", ChecksumText(file.checksum)}};
}

OrderedJson ToJson(const ManifestRank& rank) {
  return {{"rank", rank.rank.value()},
          {"incarnation", rank.incarnation.value()},
          {"iteration", rank.iteration.value()},
          {"file", rank.file},
          {"bytes", rank.bytes},
          {"checksum", ChecksumText(rank.checksum)}};
}

OrderedJson ToJson(const ManifestPool& pool) {
  return {{"name", pool.name}, {"batches", pool.batches}, {"next", pool.next}, {"open", pool.open}};
}

OrderedJson ToJson(const JobOptions& job) {
  return {{"name", job.job},
          {"workers", job.workers},
          {"servers", job.servers},
          {"shards", job.shards},
          {"sync", job.sync},
          {"apply", job.apply},
          {"placement", job.placement},
          {"block_bytes", job.block_bytes},
          {"seed", job.seed}};
}

OrderedJson ToJson(const std::string& text) { return text; }

// One entry per line: a manifest has thousands of blocks, and people can read and diff lines.
template <typename List>
std::string Lines(const List& list, const char* indent) {
  std::string text = "[";
  for (const auto& entry : list) {
    text += fmt::format("{}\n{}{}", &entry == &list.front() ? "" : ",", indent, Line(ToJson(entry)));
  }
  return text + "]";
}

std::string TableText(const ManifestTable& table) {
  const TableSpec& spec = table.spec;
  const OrderedJson head = {{"id", table.id.value()},
                            {"name", spec.name},
                            {"shape", spec.shape},
                            {"dtype", "float32"},
                            {"clock", spec.clock == TableClock::kJob ? "job" : "own"},
                            {"nonfinite", spec.nonfinite == NonFinite::kRefuse ? "refuse" : "accept"},
                            {"sync", spec.sync},
                            {"apply", spec.apply},
                            {"optimizer", spec.optimizer}};
  std::string text = Line(head);
  text.pop_back();
  return fmt::format("{},\n     \"blocks\": {}}}", text, Lines(table.blocks, "      "));
}

}  // namespace

std::string SealManifest(std::string members) {
  const std::string checksum = ChecksumText(ChecksumOf(members));
  return fmt::format("{}  \"checksum\": \"{}\"\n}}\n", members, checksum);
}

std::string WriteManifest(const Manifest& manifest) {
  OrderedJson incarnations = OrderedJson::array();
  for (const Incarnation incarnation : manifest.incarnations) incarnations.push_back(incarnation.value());
  OrderedJson begins = OrderedJson::array();
  for (const Iteration begin : manifest.begins) begins.push_back(begin.value());
  std::string tables = "[";
  for (const ManifestTable& table : manifest.tables) {
    tables += fmt::format("{}\n    {}", &table == &manifest.tables.front() ? "" : ",", TableText(table));
  }
  tables += "]";
  std::string text = "{\n";
  const std::pair<const char*, std::string> members[] = {
      {"format", fmt::format("{}", kManifestFormat)},
      {"checkpoint", fmt::format("{}", manifest.checkpoint)},
      {"iteration", fmt::format("{}", manifest.iteration.value())},
      {"exact", manifest.exact ? "true" : "false"},
      {"consistent", manifest.consistent ? "true" : "false"},
      {"epoch", fmt::format("{}", manifest.epoch.value())},
      {"job", Line(ToJson(manifest.job))},
      {"rules", Lines(manifest.rules, "    ")},
      {"incarnations", Line(incarnations)},
      {"begins", Line(begins)},
      {"lost", fmt::format("{}", manifest.lost)},
      {"torn", fmt::format("{}", manifest.torn)},
      {"tables", tables},
      {"files", Lines(manifest.files, "    ")},
      {"ranks", Lines(manifest.ranks, "    ")},
      {"pools", Lines(manifest.pools, "    ")},
  };
  for (const auto& [key, value] : members) text += fmt::format("  \"{}\": {},\n", key, value);
  return SealManifest(std::move(text));
}

}  // namespace leeway
