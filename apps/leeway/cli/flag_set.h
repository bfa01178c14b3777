// FlagSet: the flags of one command, as that command declares them. Knows nothing of how argv is taken apart.
//
// Targets are filled by Take, hold their defaults until then, and must outlive the set. Not thread-safe.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "leeway/status.h"

namespace leeway::app {

using Check = std::function<Status(const std::string&)>;

struct FlagFile;
using ReadFlagFile = std::function<Result<FlagFile>(const std::string& path)>;

// The type of its values, for files that give values of flags.
enum class FlagKind : std::uint8_t { kText, kNumber, kBytes, kTime, kSwitch, kFile };

struct Flag {
  std::string names;   // "-w,--workers"
  std::string value;   // what help calls its value: "N"; empty: a switch
  std::string help;    // one line; the default is added to it
  std::string preset;  // the default as help shows it; empty: none worth showing
  bool repeats = false;
  Check take;  // of one given value; a switch gets "true", one whose value was left out ""
  FlagKind kind = FlagKind::kText;
  bool value_optional = false;
  bool comes_first = false;  // taken before the other flags and keys, whose checks depend on it
  // Told where each value that was taken came from, as a message names it: "--sync", "job.toml line 3: sync".
  std::function<void(const std::string& origin)> note = {};

  // The longest name, for messages.
  [[nodiscard]] std::string name() const;
};

class FlagSet {
 public:
  // A whole number in [low, high].
  template <std::unsigned_integral T>
  void Number(std::string names, std::string value, T& target, std::type_identity_t<T> low,
              std::type_identity_t<T> high, std::string help) {
    const auto set = [&target](std::uint64_t n) { target = static_cast<T>(n); };
    Ranged(std::move(names), std::move(value), target, set, low, high, std::move(help), false);
  }
  // "16KiB", "4MiB", "1GiB" or plain bytes.
  template <std::unsigned_integral T>
  void Bytes(std::string names, T& target, std::type_identity_t<T> low, std::type_identity_t<T> high,
             std::string help) {
    const auto set = [&target](std::uint64_t n) { target = static_cast<T>(n); };
    Ranged(std::move(names), "BYTES", target, set, low, high, std::move(help), true);
  }
  // The same, or "auto" for a size that is chosen where it is used: target is 0 then.
  void BytesOrAuto(std::string names, std::uint32_t& target, std::uint32_t low, std::uint32_t high,
                   std::string help);
  // "250ms", "30s", "2m"; a unit is needed, or seconds and milliseconds get mixed up.
  void Time(std::string names, std::chrono::milliseconds& target, std::string help);
  // The same of a limit that there may be none of: "none" and "0" make target 0.
  void TimeLimit(std::string names, std::chrono::milliseconds& target, std::string help);
  void Text(std::string names, std::string value, std::string& target, std::string help, Check check = {});
  // One of some words, each with the value that it makes `target`. REQUIRES: target has the value of one.
  template <typename T>
  using Choices = std::vector<std::pair<std::string, T>>;
  template <typename T>
  void OneOf(std::string names, std::string value, T& target, const Choices<T>& choices, std::string help) {
    std::vector<std::string> words;
    std::string preset;
    for (const auto& [word, meaning] : choices) {
      words.push_back(word);
      if (meaning == target) preset = word;
    }
    const auto set = [&target, choices](std::size_t which) { target = choices[which].second; };
    Word(std::move(names), std::move(value), std::move(preset), std::move(words), set, std::move(help));
  }
  void Switch(std::string names, bool& target, std::string help) {
    SwitchTo(true, std::move(names), target, std::move(help));
  }
  // The same for something that is on: target becomes false.
  void SwitchOff(std::string names, bool& target, std::string help) {
    SwitchTo(false, std::move(names), target, std::move(help));
  }
  // May be given several times; `take` is called for each.
  void Each(std::string names, std::string value, Check take, std::string help);
  // The same, taken before all flags that are not of this kind, wherever it stands.
  void EachFirst(std::string names, std::string value, Check take, std::string help);
  // "--watch" and "--watch 2s" alike: `given` becomes true, `target` changes with a value.
  void OptionalTime(std::string names, bool& given, std::chrono::milliseconds& target, std::string help);
  // "--json" and "--json FILE" alike.
  void OptionalText(std::string names, std::string value, bool& given, std::string& target, std::string help);
  // A file that says what flags say, taken before them (cli/flag_file.h). At most one.
  void File(std::string names, std::string value, ReadFlagFile read, std::string help);
  // For checks of several flags together, which come when all have been taken. REQUIRES: the flag is here.
  void NoteOrigin(std::string_view name, std::function<void(const std::string& origin)> note);
  // Takes what stands after "--". Without it a command refuses a "--".
  void Rest(std::string value, std::vector<std::string>& target, std::string help);

  // Takes from `low` to `high` words that are no flags, as in "ls FOLDER". Without it a command refuses them.
  void Words(std::string value, std::vector<std::string>& target, std::size_t low, std::size_t high,
             std::string help);

  [[nodiscard]] const std::vector<Flag>& flags() const { return flags_; }
  [[nodiscard]] const Flag* Find(std::string_view name) const;  // "--workers" or "-w"
  // Every long name, for suggestions.
  [[nodiscard]] std::vector<std::string> names() const;
  // Null without a File.
  [[nodiscard]] const ReadFlagFile& read_file() const { return read_file_; }
  [[nodiscard]] bool takes_rest() const { return rest_ != nullptr; }
  [[nodiscard]] const std::string& rest_value() const { return rest_value_; }
  [[nodiscard]] const std::string& rest_help() const { return rest_help_; }
  void TakeRest(std::vector<std::string> words);
  [[nodiscard]] bool takes_words() const { return words_ != nullptr; }
  [[nodiscard]] const std::string& words_value() const { return words_value_; }
  [[nodiscard]] const std::string& words_help() const { return words_help_; }
  [[nodiscard]] Status TakeWords(std::vector<std::string> words);

 private:
  void Ranged(std::string names, std::string value, std::uint64_t preset,
              std::function<void(std::uint64_t)> set, std::uint64_t low, std::uint64_t high, std::string help,
              bool bytes);
  void Word(std::string names, std::string value, std::string preset, std::vector<std::string> words,
            std::function<void(std::size_t which)> set, std::string help);
  void SwitchTo(bool to, std::string names, bool& target, std::string help);

  std::vector<Flag> flags_;
  ReadFlagFile read_file_;
  std::vector<std::string>* rest_ = nullptr;
  std::string rest_value_;
  std::string rest_help_;
  std::vector<std::string>* words_ = nullptr;
  std::string words_value_;
  std::string words_help_;
  std::size_t words_low_ = 0, words_high_ = 0;
};

}  // namespace leeway::app
