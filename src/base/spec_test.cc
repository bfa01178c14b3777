#include "base/spec.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace leeway {
namespace {

Spec Parsed(std::string_view text) {
  Result<Spec> spec = ParseSpec(text);
  EXPECT_TRUE(spec.ok()) << text << ": " << spec.status().ToString();
  return spec.ok() ? *spec : Spec{};
}

TEST(SpecTest, ANameAloneIsASpec) {
  EXPECT_EQ(Parsed("bsp"), (Spec{{{"bsp", {}, {}}}}));
  EXPECT_EQ(Parsed("round_robin-2.x"), (Spec{{{"round_robin-2.x", {}, {}}}}));
}

TEST(SpecTest, ArgumentsAreKeyedOrPositional) {
  EXPECT_EQ(Parsed("pssp:3,alpha=0.5,release=soft"),
            (Spec{{{"pssp", {{"", "3"}, {"alpha", "0.5"}, {"release", "soft"}}, {}}}}));
  EXPECT_EQ(Parsed("a:-1e-3,x=-2"), (Spec{{{"a", {{"", "-1e-3"}, {"x", "-2"}}, {}}}}));
}

TEST(SpecTest, QuotedValuesHoldAnything) {
  EXPECT_EQ(Parsed(R"(file:path="/a b,c+(d)=:\"e\"\\")"),
            (Spec{{{"file", {{"path", R"(/a b,c+(d)=:"e"\)"}}, {}}}}));
  EXPECT_EQ(Parsed(R"(a:"",k="")"), (Spec{{{"a", {{"", ""}, {"k", ""}}, {}}}}));
  EXPECT_EQ(Parsed("a:\"\xC3\xA4\"").terms[0].args[0].value, "\xC3\xA4");
}

TEST(SpecTest, TermsNestAndChain) {
  EXPECT_EQ(Parsed("ef(topk:0.01)"), (Spec{{{"ef", {}, {{"topk", {{"", "0.01"}}, {}}}}}}));
  EXPECT_EQ(Parsed("a(b(c)+d:1)+e"),
            (Spec{{{"a", {}, {{"b", {}, {{"c", {}, {}}}}, {"d", {{"", "1"}}, {}}}}, {"e", {}, {}}}}));
}

struct Malformed {
  std::string text;
  std::string message;  // a part of it
};

TEST(SpecTest, ErrorsNameThePositionAndWhatWasWanted) {
  const std::vector<Malformed> cases = {
      {"", "got its end at position 1, wanted a name"},
      {" bsp", "got ' ' at position 1, wanted a name"},
      {"3", "got '3' at position 1, wanted a name"},
      {"bsp ", "got ' ' at position 4, wanted '+' or the end"},
      {"bsp)", "got ')' at position 4, wanted '+' or the end"},
      {"a b", "got ' ' at position 2"},
      {"ssp:", "got its end at position 5, wanted a value"},
      {"ssp:,", "got ',' at position 5, wanted a value"},
      {"ssp:3,", "got its end at position 7, wanted a value"},
      {"ssp:s=", "got its end at position 7, wanted a value"},
      {"ssp:=3", "got '=' at position 5, wanted a value"},
      {"ssp:s=3=4", "got '=' at position 8, wanted '+' or the end"},
      {"ssp:3=4", "got '=' at position 6"},
      {"ssp:s==3", "got '=' at position 7, wanted a value"},
      {"ssp:a:b", "got ':' at position 6"},
      {"ssp:\"3", "got its end at position 7, wanted the closing quote"},
      {"ssp:\"3\\", "got its end at position 8, wanted \" or \\ after a \\"},
      {"ssp:\"\\n\"", "got 'n' at position 7, wanted \" or \\ after a \\"},
      {"ssp:\"3\"4", "got '4' at position 8, wanted '+' or the end"},
      {"ssp:3\"4\"", "got '\"' at position 6"},
      {"a+", "got its end at position 3, wanted a name"},
      {"+a", "got '+' at position 1, wanted a name"},
      {"a++b", "got '+' at position 3, wanted a name"},
      {"lr:1e+5", "got '5' at position 7, wanted a name"},
      {"ef()", "got ')' at position 4, wanted a name"},
      {"ef(a", "got its end at position 5, wanted '+' or ')'"},
      {"ef(a))", "got ')' at position 6, wanted '+' or the end"},
      {"ef(a)b", "got 'b' at position 6, wanted '+' or the end"},
      {"ef(a):1", "got ':' at position 6, wanted '+' or the end"},
      {"ef:1(a)", "got '(' at position 5, wanted '+' or the end"},
      {"a\tb", "got byte 0x09 at position 2"},
      {std::string("a\0b", 3), "got byte 0x00 at position 2"},
      {"a:b\nc", "got byte 0x0A at position 4"},
      {"\xC3\xA4sp", "spec \"\xC3\xA4sp\": got byte 0xC3 at position 1, wanted a name"},
  };
  for (const Malformed& c : cases) {
    const Result<Spec> spec = ParseSpec(c.text);
    ASSERT_FALSE(spec.ok()) << c.text << " parsed as " << PrintSpec(*spec);
    EXPECT_EQ(spec.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(spec.status().message().find(c.message), std::string::npos)
        << '"' << c.text << "\": " << spec.status().message() << "\nwanted: " << c.message;
  }
}

TEST(SpecTest, LengthAndDepthHaveLimits) {
  EXPECT_TRUE(ParseSpec(std::string(kSpecBytesMax, 'a')).ok());
  EXPECT_FALSE(ParseSpec(std::string(kSpecBytesMax + 1, 'a')).ok());

  const auto nested = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "a(";
    return text + "b" + std::string(depth, ')');
  };
  EXPECT_TRUE(ParseSpec(nested(kSpecDepthMax)).ok());
  const Result<Spec> deeper = ParseSpec(nested(kSpecDepthMax + 1));
  ASSERT_FALSE(deeper.ok());
  EXPECT_NE(deeper.status().message().find("more than 16 levels of parentheses at position 34"),
            std::string::npos)
      << deeper.status().message();
  // The limit also catches unclosed parentheses, before the stack ends.
  EXPECT_FALSE(ParseSpec(nested(2000).substr(0, 4000)).ok());
}

// Draws specs that a parser can give: any bytes in values, anything nested within the limit.
class SpecDraw {
 public:
  explicit SpecDraw(std::uint64_t seed) : random_(seed) {}
  Spec Draw() { return Spec{Terms(0)}; }

 private:
  std::size_t Below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::string Text(std::string_view first, std::string_view rest, std::size_t bytes_max) {
    std::string text;
    if (!first.empty()) text += first[Below(first.size())];
    for (std::size_t n = Below(bytes_max); n > 0; --n) text += rest[Below(rest.size())];
    return text;
  }
  std::string Name() { return Text("abzA_", "abz_-.09Z", 6); }
  std::string Value() {
    if (Below(4) == 0) {
      std::string any(Below(8), '\0');
      for (char& c : any) c = static_cast<char>(random_());
      return any;
    }
    return Text("", "ab0.- ,+()=:\"\\", 6);
  }
  std::vector<SpecTerm> Terms(std::size_t depth) {
    std::vector<SpecTerm> terms(1 + Below(3));
    for (SpecTerm& term : terms) {
      term.name = Name();
      const std::size_t shape = Below(3);
      if (shape == 1 && depth < 3) term.inner = Terms(depth + 1);
      if (shape != 2) continue;
      for (std::size_t n = 1 + Below(3); n > 0; --n)
        term.args.push_back({Below(2) == 0 ? "" : Name(), Value()});
    }
    return terms;
  }

  std::mt19937_64 random_;
};

TEST(SpecTest, PrintingAndParsingGivesAnEqualSpec) {
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    const Spec spec = SpecDraw(seed).Draw();
    const std::string text = PrintSpec(spec);
    const Result<Spec> parsed = ParseSpec(text);
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << parsed.status().ToString();
    ASSERT_EQ(*parsed, spec) << "seed " << seed << ": " << text;
    ASSERT_EQ(PrintSpec(*parsed), text) << "seed " << seed;
  }
}

TEST(SpecTest, WhatDoesNotChangeTheMeaningIsLeftOut) {
  // Of a policy with b, whose default is 1, and c, whose default is 2.
  const auto meaning = [](const std::string& text) {
    std::vector<std::string> values{"1", "2"};
    std::size_t at = 0;
    const Spec spec = Parsed(text);
    for (const SpecArg& arg : spec.terms[0].args)
      values.at(arg.key.empty() ? at++ : arg.key == "b" ? 0 : 1) = arg.value;
    return values;
  };
  const auto shortened = [&meaning](const std::string& text) {
    return ShortSpec(text, [&](const std::string& tried) { return meaning(tried) == meaning(text); });
  };
  EXPECT_EQ(shortened("a:b=1,c=2"), "a");
  EXPECT_EQ(shortened("a:b=3,c=2"), "a:3");
  EXPECT_EQ(shortened("a:b=1,c=3"), "a:c=3");
  EXPECT_EQ(shortened("a:b=3,c=4"), "a:3,4");
  EXPECT_EQ(ShortSpec("no spec:", [](const std::string&) { return true; }), "no spec:");
}

// The parser refuses or accepts and never crashes; an accepted text prints as an equal spec.
TEST(SpecTest, AnySmallDamageIsRefusedOrRoundTrips) {
  std::mt19937_64 random(7);
  std::size_t accepted = 0;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    std::string text = PrintSpec(SpecDraw(seed).Draw());
    const std::size_t at = static_cast<std::size_t>(random() % text.size());
    switch (random() % 3) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, 1, ",+()=:\"\\ a"[random() % 10]);
        break;
      default:
        text.resize(at);
    }
    const Result<Spec> parsed = ParseSpec(text);
    if (!parsed.ok()) continue;
    ++accepted;
    ASSERT_EQ(Parsed(PrintSpec(*parsed)), *parsed) << text;
  }
  EXPECT_GT(accepted, 100U);
  EXPECT_LT(accepted, 4'900U);
}

}  // namespace
}  // namespace leeway
