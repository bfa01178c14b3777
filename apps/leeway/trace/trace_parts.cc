#include "trace/trace_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "process/trace_file.h"

namespace leeway::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Puts the events of one process after the other into the whole.
class Merger {
 public:
  Merger(std::ostream& out, double began_us) : out_(out), began_us_(began_us) {}

  void AddPart(std::istream& part) {
    open_.clear();
    last_us_ = 0;
    ++merged_.processes;
    for (std::string line; std::getline(part, line);) {
      // The last line of a process that was killed has no end.
      ordered_json event = ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (part.eof() || !event.is_object()) {
        ++merged_.half_lines;
        continue;
      }
      AddLine(std::move(event));
    }
    for (auto& [key, end] : open_) {
      end["ph"] = "e";
      end["ts"] = last_us_;
      end["args"]["cut"] = true;  // nobody saw it end
      Write(end);
    }
  }
  [[nodiscard]] const MergedTrace& merged() const { return merged_; }

 private:
  void AddLine(ordered_json event) {
    const std::string phase = event.value("ph", "");
    if (phase == "M") return Write(event);
    const double at_us = event.value("ts", 0.0) - began_us_;
    // The clock has nanoseconds.
    event["ts"] = std::max(std::round(at_us * 1e3) / 1e3, 0.0);
    last_us_ = std::max(last_us_, event.value("ts", 0.0) + event.value("dur", 0.0));
    if (phase == "i") ++merged_.ended_early;
    if (phase == "b") open_[KeyOf(event)] = event;
    // An end whose begin is not here would break the rule that each has one.
    if (phase == "e" && open_.erase(KeyOf(event)) == 0) return;
    Write(event);
  }

  using Key = std::pair<std::string, std::string>;
  static Key KeyOf(const ordered_json& event) { return {event.value("cat", ""), event.value("id", "")}; }

  void Write(const ordered_json& event) {
    out_ << (merged_.events++ == 0 ? "\n" : ",\n")
         << event.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

  std::ostream& out_;
  const double began_us_;
  MergedTrace merged_;
  // Of the part at hand.
  std::map<Key, ordered_json> open_;
  double last_us_ = 0;
};

}  // namespace

Result<TraceParts> TraceParts::Make(const std::string& file, const std::string& steps) {
  LW_RETURN_IF_ERROR(ParseTraceSteps(steps).status());
  TraceParts parts;
  parts.file_ = fs::absolute(file).string();
  parts.options_.folder = parts.file_ + ".parts";
  parts.options_.steps = steps;
  parts.began_ = std::chrono::steady_clock::now();
  std::error_code error;
  // Only parts: a folder of somebody else's is not emptied.
  for (const fs::directory_entry& entry : fs::directory_iterator(parts.options_.folder, error)) {
    if (entry.path().extension() == ".jsonl") fs::remove(entry.path(), error);
  }
  fs::create_directory(parts.options_.folder, error);
  if (error) return NotFound("cannot make the folder {}: {}", parts.options_.folder, error.message());
  return parts;
}

Result<MergedTrace> TraceParts::Merge() const {
  std::vector<fs::path> parts;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(options_.folder, error))
    if (entry.path().extension() == ".jsonl") parts.push_back(entry.path());
  std::ranges::sort(parts);
  if (parts.empty()) {
    fs::remove(options_.folder, error);
    return MergedTrace();
  }
  const std::string beside = options_.folder + "/whole";
  errno = 0;
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out << R"({"displayTimeUnit":"ms","traceEvents":[)";
  Merger merger(out, std::chrono::duration<double, std::micro>(began_.time_since_epoch()).count());
  for (const fs::path& path : parts) {
    std::ifstream part(path, std::ios::binary);
    merger.AddPart(part);
  }
  out << "\n]}\n";
  out.close();
  const int failed = errno;
  // Files of the same folder's disk: either there is room for both, or the parts go.
  const bool whole = out && std::rename(beside.c_str(), file_.c_str()) == 0;
  const Status written =
      whole ? Status::Ok() : NotFound("cannot write {}: {}", file_, std::strerror(out ? errno : failed));
  for (const fs::path& path : parts) fs::remove(path, error);
  fs::remove(beside, error);
  fs::remove(options_.folder, error);
  LW_RETURN_IF_ERROR(written);
  return merger.merged();
}

std::string ToText(const MergedTrace& merged, const std::string& file) {
  if (merged.processes == 0)
    return fmt::format("trace: no process of the job wrote a part of it; {} was not written", file);
  std::string text = fmt::format("trace: {} has {} events of {} processes; ui.perfetto.dev opens it", file,
                                 merged.events, merged.processes);
  if (merged.ended_early > 0) {
    text += fmt::format("; {} of them had more events than a process may have: take fewer steps",
                        merged.ended_early);
  }
  return text;
}

}  // namespace leeway::app
