#include "bench/cluster/train_row.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <sstream>
#include <utility>

#include "base/errors.h"
#include "base/number_from.h"
#include "base/split.h"
#include "problem/cut_tables.h"

namespace leeway::bench {
namespace {

constexpr const char* kAloneWord = "alone";
const std::array<std::pair<std::string_view, TrainPass>, 3> kPasses = {
    {{kAloneWord, TrainPass::kAlone},
     {"traditional", TrainPass::kTraditional},
     {"wait-free", TrainPass::kWaitFree}}};

// A key of a row. `set` changes the row; it returns false and changes nothing for a wrong value.
struct RowKey {
  std::string_view name;
  bool (*set)(TrainRow& row, const JobOptions& usual, const std::string& value);
  const char* wanted = "";  // instead of a wrong value; {} is the number of machines
};
constexpr const char* kSomeMachines = "a number from 1 to {}, the machines of the cluster";

bool SetCount(std::uint32_t& target, std::uint32_t most, const std::string& value) {
  const auto number = NumberFrom<std::uint32_t>(value);
  if (!number || *number < 1 || *number > most) return false;
  target = *number;
  return true;
}

template <std::string JobOptions::*member>
bool SetText(TrainRow& row, const JobOptions&, const std::string& value) {
  row.job.*member = value;
  return true;
}

constexpr std::array<RowKey, 10> kRowKeys = {
    {{"sync", SetText<&JobOptions::sync>},
     {"apply", SetText<&JobOptions::apply>},
     {"pull", SetText<&JobOptions::pull>},
     {"exchange", SetText<&JobOptions::exchange>},
     {"placement", SetText<&JobOptions::placement>},
     {"pull_at", SetText<&JobOptions::pull_at>},
     {"priorities",
      [](TrainRow& row, const JobOptions&, const std::string& value) {
        if (value != "on" && value != "off") return false;
        row.job.priorities = value == "on";
        return true;
      },
      "priorities=on or priorities=off"},
     {"machines",
      [](TrainRow& row, const JobOptions& usual, const std::string& value) {
        return SetCount(row.job.workers, usual.workers, value) &&
               SetCount(row.job.servers, usual.workers, value);
      },
      kSomeMachines},
     {"servers",
      [](TrainRow& row, const JobOptions& usual, const std::string& value) {
        return SetCount(row.job.servers, usual.workers, value);
      },
      kSomeMachines},
     {"cut",
      [](TrainRow& row, const JobOptions&, const std::string& value) {
        return SetCount(row.cut, problem::kCutMax, value);
      },
      "a number of parts from 1 to 64"}}};

Status SetRowKey(TrainRow& row, const std::string& word, const JobOptions& usual) {
  const std::size_t equals = word.find('=');
  const auto key = std::ranges::find(kRowKeys, word.substr(0, equals), &RowKey::name);
  if (equals == std::string::npos || key == kRowKeys.end()) {
    std::vector<std::string> known;
    known.reserve(kRowKeys.size());
    for (const RowKey& each : kRowKeys) known.emplace_back(each.name);
    return InvalidArgument("row \"{}\": got \"{}\", wanted {}=VALUE{}", row.text, word,
                           fmt::join(known, "=VALUE, "), DidYouMean(word.substr(0, equals), known));
  }
  if (key->set(row, usual, word.substr(equals + 1))) return Status::Ok();
  return InvalidArgument("row \"{}\": got \"{}\", wanted {}", row.text, word,
                         fmt::format(fmt::runtime(key->wanted), usual.workers));
}

Result<TrainRow> ParseTrainRow(const std::string& text, const JobOptions& usual) {
  std::istringstream line(text);
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  TrainRow row{.text = fmt::format("{}", fmt::join(words, " ")), .job = usual};
  const std::string first = words.empty() ? "" : words[0];
  const auto pass = std::ranges::find(kPasses, first, &decltype(kPasses)::value_type::first);
  if (pass == kPasses.end()) {
    std::vector<std::string> known;
    known.reserve(kPasses.size());
    for (const auto& each : kPasses) known.emplace_back(each.first);
    return InvalidArgument("row \"{}\": got \"{}\", wanted one of {} first{}", row.text, first,
                           fmt::join(known, ", "), DidYouMean(first, known));
  }
  row.pass = pass->second;
  for (std::size_t i = 1; i < words.size(); ++i) LW_RETURN_IF_ERROR(SetRowKey(row, words[i], usual));
  // Without overlap a barrier parts the pushes of an iteration from its pulls, as the thesis has it.
  row.job.overlap = row.pass != TrainPass::kTraditional;
  if (row.pass != TrainPass::kAlone) return row;
  if (words.size() > 1)
    return InvalidArgument("row \"{}\": got \"{}\", wanted nothing after \"alone\"", row.text, words[1]);
  row.job.workers = row.job.servers = 1;
  return row;
}

}  // namespace

Result<std::vector<TrainRow>> ParseTrainRows(const std::string& text, const JobOptions& usual) {
  std::vector<TrainRow> rows;
  LW_ASSIGN_OR_RETURN(TrainRow alone, ParseTrainRow(kAloneWord, usual));
  rows.push_back(std::move(alone));
  for (const std::string& part : SplitAt(text, ';')) {
    LW_ASSIGN_OR_RETURN(TrainRow row, ParseTrainRow(part, usual));
    if (row.pass == TrainPass::kAlone) continue;
    if (std::ranges::find(rows, row.text, &TrainRow::text) != rows.end())
      return InvalidArgument("row \"{}\": got it twice, wanted it once", row.text);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace leeway::bench
