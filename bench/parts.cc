#include "parts.h"

#include <fmt/ranges.h>

#include <utility>

#include "base/errors.h"

namespace leeway::bench {
namespace {

using Words = std::vector<std::string>;

// Name of a group: what stands before the first dot.
std::string GroupOf(const std::string& name) { return name.substr(0, name.find('.')); }

bool IsPartOf(const std::string& name, const std::string& wanted) {
  return name == wanted || name.starts_with(wanted + ".");
}

}  // namespace

std::vector<Part> AllParts(bool quick) {
  const auto with = [quick](Words words, const Words& when_quick) {
    if (quick) words.insert(words.end(), when_quick.begin(), when_quick.end());
    return words;
  };
  std::vector<Part> parts;
  for (const std::string transport : {"local", "tcp"}) {
    for (const std::string bytes : {"64", "4KiB", "64KiB", "1MiB", "4MiB"}) {
      parts.push_back({"pushpull." + transport + "." + (bytes == "64" ? "64B" : bytes),
                       with({"pushpull", "--transport", transport, "--block-bytes", bytes},
                            {"--seconds", "1", "--repeats", "1"})});
    }
  }
  for (const std::string transport : {"local", "tcp"}) {
    parts.push_back({"latency." + transport,
                     with({"latency", "--transport", transport}, {"--seconds", "1", "--repeats", "1"})});
  }
  parts.push_back({"scale", with({"scale"}, {"--seconds", "1", "--repeats", "1", "--block-bytes", "64KiB",
                                             "--blocks", "64"})});
  parts.push_back({"optimizer", {"optimizer"}});
  parts.push_back({"sync", with({"sync"}, {"--repeats", "1", "--pairs", "2048"})});
  parts.push_back({"sim", with({"sim"}, {"--steps", "4096", "--repeats", "1"})});
  for (const auto& [name, workers] : {std::pair("one_worker", "1"), std::pair("four_workers", "4")}) {
    parts.push_back({std::string("step.") + name,
                     with({"step", "--workers", workers}, {"--", "--turn", "2", "--pairs", "2"})});
  }
  parts.push_back(
      {"memory", with({"memory"}, {"--model-bytes", "16MiB", "--repeats", "1", "--iterations", "200"})});
  parts.push_back({"checkpoint", with({"checkpoint"}, {"--steps", "20", "--pairs", "1", "--every", "10"})});
  // Before what goes to the script.
  for (Part& part : parts) part.words.insert(part.words.begin() + 1, "--json");
  return parts;
}

Result<std::vector<Part>> ChooseParts(const std::vector<Part>& all, std::span<const std::string> only) {
  if (only.empty()) return all;
  for (const std::string& wanted : only) {
    bool found = false;
    for (const Part& part : all) found = found || IsPartOf(part.name, wanted);
    if (found) continue;
    Words known;
    for (const Part& part : all) {
      const std::string group = GroupOf(part.name);
      if (known.empty() || known.back() != group) known.push_back(group);
    }
    return NotFound("no part \"{}\"; known: {}, and what they are made of, such as pushpull.tcp.64KiB{}",
                    wanted, fmt::join(known, ", "), DidYouMean(wanted, known));
  }
  std::vector<Part> chosen;
  for (const Part& part : all) {
    for (const std::string& wanted : only) {
      if (!IsPartOf(part.name, wanted)) continue;
      chosen.push_back(part);
      break;
    }
  }
  return chosen;
}

}  // namespace leeway::bench
