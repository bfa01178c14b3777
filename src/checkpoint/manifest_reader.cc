// ReadManifest. It checks each number as it reads it, and relations between keys afterwards.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/errors.h"
#include "checkpoint/checksum.h"
#include "checkpoint/key_reader.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"

namespace leeway {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kU32Max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kU64Max = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kBytesMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kIterationsMax = std::uint64_t{1} << 62;
constexpr std::uint64_t kTableElementsMax = std::uint64_t{1} << 48;

class Reading {
 public:
  Result<Manifest> Run(const Json& json) {
    KeyReader top(json, "", error_);
    const auto format = top.Number("format", 0, kU64Max);
    if (error_.ok() && format != kManifestFormat) {
      top.Refuse("format", fmt::format("got {}, wanted {}: another version of leeway wrote it", format,
                                       kManifestFormat));
    }
    manifest_.checkpoint = top.Number("checkpoint", 0, kU64Max);
    manifest_.iteration = Iteration(top.Signed("iteration", 0));
    manifest_.exact = top.Bool("exact");
    manifest_.consistent = top.Bool("consistent");
    manifest_.epoch = Epoch(top.Number("epoch", 0, kU64Max));
    Job(top.Object("job"));
    Rules(top, top.List("rules"));
    Incarnations(top, top.List("incarnations"));
    Begins(top, top.List("begins"));
    manifest_.lost = top.Number("lost", 0, kU64Max);
    manifest_.torn = top.Number("torn", 0, kU64Max);
    // Files come before the blocks that refer to them.
    Each(top, "files", [this](KeyReader& file) { File(file); });
    Each(top, "tables", [this](KeyReader& table) { Table(table); });
    Each(top, "ranks", [this](KeyReader& rank) { Rank(rank); });
    Each(top, "pools", [this](KeyReader& pool) { Pool(pool); });
    static_cast<void>(top.Checksum("checksum"));
    top.Finish();
    Overlaps();
    if (!error_.ok()) return error_;
    return std::move(manifest_);
  }

 private:
  template <typename Read>
  void Each(KeyReader& parent, const char* key, Read read) {
    const Json& list = parent.List(key);
    for (std::size_t i = 0; i < list.size() && error_.ok(); ++i) {
      KeyReader entry(list[i], fmt::format("{}[{}]", parent.PathOf(key), i), error_);
      read(entry);
      entry.Finish();
    }
  }

  static std::uint32_t U32(KeyReader& from, const char* key, std::uint32_t low = 0) {
    return static_cast<std::uint32_t>(from.Number(key, low, kU32Max));
  }

  void Job(KeyReader job) {
    JobOptions& to = manifest_.job;
    to.job = job.Text("name");
    to.workers = U32(job, "workers");
    to.servers = U32(job, "servers");
    to.shards = U32(job, "shards");
    to.sync = job.Text("sync");
    to.apply = job.Text("apply");
    to.placement = job.Text("placement");
    to.block_bytes = U32(job, "block_bytes", 0);
    to.seed = job.Number("seed", 0, kU64Max);
    job.Finish();
  }

  void Rules(KeyReader& top, const Json& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_string() || list[i].get_ref<const std::string&>().empty()) {
        return top.Refuse(fmt::format("rules[{}]", i), "wanted a rule as text");
      }
      manifest_.rules.push_back(list[i].get<std::string>());
    }
  }

  void Incarnations(KeyReader& top, const Json& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number_unsigned() || list[i].get<std::uint64_t>() > kU32Max) {
        return top.Refuse(fmt::format("incarnations[{}]", i), "wanted a whole number below 2^32");
      }
      manifest_.incarnations.emplace_back(list[i].get<std::uint32_t>());
    }
  }

  void Begins(KeyReader& top, const Json& list) {
    if (!error_.ok()) return;
    if (list.size() != manifest_.incarnations.size()) {
      return top.Refuse("begins", fmt::format("got {} ranks, wanted {} as in incarnations", list.size(),
                                              manifest_.incarnations.size()));
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number_unsigned() || list[i].get<std::uint64_t>() > kIterationsMax) {
        return top.Refuse(fmt::format("begins[{}]", i), "wanted an iteration from 0 to 2^62");
      }
      manifest_.begins.emplace_back(list[i].get<std::int64_t>());
    }
  }

  void Pool(KeyReader& pool) {
    ManifestPool to;
    to.name = pool.Text("name");
    to.batches = pool.Number("batches", 0, kU64Max);
    to.next = pool.Number("next", 0, kU64Max);
    const Json& open = pool.List("open");
    if (!error_.ok()) return;
    if (to.next > to.batches) {
      return pool.Refuse("next", fmt::format("got {}, wanted at most {}, its batches", to.next, to.batches));
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool fits = open[i].is_number_unsigned() && open[i].get<std::uint64_t>() < to.next;
      if (!fits || (i > 0 && open[i].get<std::uint64_t>() <= to.open.back())) {
        return pool.Refuse(fmt::format("open[{}]", i),
                           fmt::format("wanted batches below {}, ascending", to.next));
      }
      to.open.push_back(open[i].get<std::uint64_t>());
    }
    if (!manifest_.pools.empty() && manifest_.pools.back().name >= to.name) {
      return pool.Refuse("name", fmt::format("got \"{}\" after \"{}\", wanted them ascending", to.name,
                                             manifest_.pools.back().name));
    }
    manifest_.pools.push_back(std::move(to));
  }

  std::string FileName(KeyReader& from, const char* key) {
    std::string name = from.Text(key);
    if (!error_.ok()) return name;
    if (!IsPlainFileName(name) || name == kManifestName || name == kManifestTempName) {
      from.Refuse(key, fmt::format("got \"{}\", wanted the name of a file in the checkpoint's folder", name));
    } else if (!names_.insert(name).second) {
      from.Refuse(key, fmt::format("\"{}\" is listed twice", name));
    }
    return name;
  }

  void File(KeyReader& file) {
    ManifestFile& to = manifest_.files.emplace_back();
    to.name = FileName(file, "name");
    to.bytes = file.Number("bytes", 0, kBytesMax);
    to.checksum = file.Checksum("checksum");
  }

  void Rank(KeyReader& rank) {
    ManifestRank to;
    to.rank = WorkerId(U32(rank, "rank"));
    to.incarnation = Incarnation(U32(rank, "incarnation"));
    to.iteration = Iteration(rank.Signed("iteration", 0));
    to.file = FileName(rank, "file");
    to.bytes = rank.Number("bytes", 0, kBytesMax);
    to.checksum = rank.Checksum("checksum");
    if (!error_.ok()) return;
    if (!manifest_.ranks.empty() && !(manifest_.ranks.back().rank < to.rank)) {
      rank.Refuse("rank", fmt::format("got {} after {}, wanted them ascending", to.rank.value(),
                                      manifest_.ranks.back().rank.value()));
    } else if (to.rank.index() >= manifest_.incarnations.size()) {
      rank.Refuse("rank", fmt::format("got {}, wanted below {}, the number of incarnations", to.rank.value(),
                                      manifest_.incarnations.size()));
    } else if (manifest_.incarnations[to.rank.index()] < to.incarnation) {
      rank.Refuse("incarnation",
                  fmt::format("got {}, wanted at most {}, the highest of that rank", to.incarnation.value(),
                              manifest_.incarnations[to.rank.index()].value()));
    }
    manifest_.ranks.push_back(std::move(to));
  }

  void Shape(KeyReader& table, TableSpec& spec) {
    const Json& shape = table.List("shape");
    std::uint64_t elements = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const Json& size = shape[i];
      // For a table without elements this is the only bound on its other sizes.
      const std::uint64_t size_max = kTableElementsMax / std::max<std::uint64_t>(elements, 1);
      if (!size.is_number_unsigned() || size.get<std::uint64_t>() > size_max) {
        return table.Refuse(fmt::format("shape[{}]", i), "wanted whole numbers with a product up to 2^48");
      }
      elements *= size.get<std::uint64_t>();
      spec.shape.push_back(size.get<std::int64_t>());
    }
  }

  void Table(KeyReader& table) {
    ManifestTable to;
    to.id = TableId(U32(table, "id"));
    to.spec.name = table.Text("name");
    Shape(table, to.spec);
    static_cast<void>(table.OneOf("dtype", {"float32"}));
    to.spec.clock = table.OneOf("clock", {"job", "own"}) == 0 ? TableClock::kJob : TableClock::kOwn;
    to.spec.nonfinite =
        table.OneOf("nonfinite", {"refuse", "accept"}) == 0 ? NonFinite::kRefuse : NonFinite::kAccept;
    to.spec.sync = table.Text("sync");
    to.spec.apply = table.Text("apply");
    to.spec.optimizer = table.Text("optimizer");
    if (!error_.ok()) return;
    if (to.id.index() != manifest_.tables.size()) {
      return table.Refuse("id", fmt::format("got {}, wanted {}", to.id.value(), manifest_.tables.size()));
    }
    if (!table_names_.insert(to.spec.name).second) {
      return table.Refuse("name", fmt::format("\"{}\" is listed twice", to.spec.name));
    }
    std::uint64_t end = 0;
    Each(table, "blocks", [&](KeyReader& block) { Block(block, to, end); });
    if (end != to.spec.elements()) {
      table.Refuse("blocks", fmt::format("end at element {}, wanted {}", end, to.spec.elements()));
    }
    manifest_.tables.push_back(std::move(to));
  }

  void Block(KeyReader& block, ManifestTable& table, std::uint64_t& end) {
    ManifestBlock to;
    to.record.block = BlockId(U32(block, "block"));
    to.offset = block.Number("offset", 0, kTableElementsMax);
    to.elements = block.Number("elements", 1, kTableElementsMax);
    to.record.term = Term(U32(block, "term"));
    to.record.v_train = Iteration(block.Signed("v_train", 0));
    to.file = U32(block, "file");
    to.record.offset = block.Number("record_offset", 0, kBytesMax);
    to.record.bytes = block.Number("record_bytes", kRecordHeadBytes, kBytesMax);
    to.record.checksum = block.Checksum("checksum");
    if (!error_.ok()) return;
    if (to.offset != end) return block.Refuse("offset", fmt::format("got {}, wanted {}", to.offset, end));
    end += to.elements;
    if (!blocks_.insert(to.record.block).second) {
      return block.Refuse("block", fmt::format("{} is listed twice", to.record.block.value()));
    }
    if (to.file >= manifest_.files.size()) {
      return block.Refuse("file", fmt::format("got {}, wanted below {}", to.file, manifest_.files.size()));
    }
    const std::uint64_t bytes = manifest_.files[to.file].bytes;
    if (to.record.bytes > bytes || to.record.offset > bytes - to.record.bytes) {
      return block.Refuse("record_offset",
                          fmt::format("got {} bytes at {}, wanted them within the {} of file {}",
                                      to.record.bytes, to.record.offset, bytes, to.file));
    }
    table.blocks.push_back(to);
  }

  // No byte of a file belongs to two blocks.
  void Overlaps() {
    if (!error_.ok()) return;
    std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, BlockId>> places;
    for (const ManifestTable& table : manifest_.tables) {
      for (const ManifestBlock& b : table.blocks) {
        places.emplace_back(b.file, b.record.offset, b.record.bytes, b.record.block);
      }
    }
    std::ranges::sort(places);
    for (std::size_t i = 1; i < places.size(); ++i) {
      const auto& [file, offset, bytes, block] = places[i - 1];
      if (std::get<0>(places[i]) == file && std::get<1>(places[i]) < offset + bytes) {
        error_ = InvalidArgument("record_offset: blocks {} and {} overlap in file {}", block.value(),
                                 std::get<3>(places[i]).value(), file);
        return;
      }
    }
  }

  Status error_;
  Manifest manifest_;
  std::set<std::string> names_, table_names_;
  std::set<BlockId> blocks_;
};

}  // namespace

Result<Manifest> ReadManifest(std::string_view text) {
  const std::size_t tail = SealManifest("").size();
  if (text.size() < tail)
    return InvalidArgument("the manifest: got {} bytes, wanted {} or more", text.size(), tail);
  const std::string_view members = text.substr(0, text.size() - tail);
  // Compares with the end that WriteManifest would write over this text: any changed bit shows here.
  if (SealManifest(std::string(members)) != text) {
    return InvalidArgument(
        "checksum: got an end that does not fit the {} bytes before it, wanted \"checksum\": \"{}\"",
        members.size(), ChecksumText(ChecksumOf(members)));
  }
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InvalidArgument("the manifest: is no JSON");
  return Reading().Run(json);
}

}  // namespace leeway
