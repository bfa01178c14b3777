#include "node/secret_proof.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "node/testing/fake_env.h"

namespace leeway {
namespace {

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";

Greeting SomeGreeting() {
  Greeting greeting;
  for (std::size_t i = 0; i < kNonceBytes; ++i) {
    greeting.connector[i] = static_cast<std::byte>(i);
    greeting.listener[i] = static_cast<std::byte>(0x80 + i);
  }
  greeting.hello = {std::byte{'h'}, std::byte{'e'}, std::byte{'y'}};
  return greeting;
}

std::string Hex(const ProofBytes& proof) {
  std::string text;
  for (const std::byte b : proof) text += fmt::format("{:02x}", std::to_integer<int>(b));
  return text;
}

bool Accepts(const ProofBytes& proof, const Greeting& greeting, std::string_view secret = kSecret,
             ProofSide side = ProofSide::kConnector) {
  return IsProof(AsText(proof), secret, side, greeting);
}

// Python's hmac.new(key, label + bytes(range(16)) + bytes(range(128, 144)) + b"hey", "sha256").hexdigest().
TEST(SecretProofTest, IsTheHmacOfItsSideBothNoncesAndTheHello) {
  EXPECT_EQ(Hex(Prove(kSecret, ProofSide::kConnector, SomeGreeting())),
            "d9bc05a42f4d1b28df700bfdf7cc024013e102900aed5ac7407605949421f277");
  EXPECT_EQ(Hex(Prove(kSecret, ProofSide::kListener, SomeGreeting())),
            "a1c8010a38c8d1b119da5e8a5b8c78ca95f0c58cf8e4d64537a8b8507542f974");
  EXPECT_EQ(Hex(Prove("", ProofSide::kConnector, SomeGreeting())),
            "31712436926cea9b98d6c18ae904ba2d21aebb1118489fe7425991e704af7b71");
}

TEST(SecretProofTest, TakesItsOwnProof) {
  const Greeting greeting = SomeGreeting();
  EXPECT_TRUE(Accepts(Prove(kSecret, ProofSide::kConnector, greeting), greeting));
}

TEST(SecretProofTest, EveryBitCounts) {
  const Greeting greeting = SomeGreeting();
  const ProofBytes good = Prove(kSecret, ProofSide::kConnector, greeting);
  for (std::size_t bit = 0; bit < 8 * kProofBytes; ++bit) {
    ProofBytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(Accepts(bad, greeting)) << "bit " << bit;
  }
}

TEST(SecretProofTest, RefusesAnyOtherLength) {
  const Greeting greeting = SomeGreeting();
  const ProofBytes good = Prove(kSecret, ProofSide::kConnector, greeting);
  const std::string text(AsText(good));
  for (const std::string& bad : {std::string(), text.substr(0, 31), text + '\0', text + text}) {
    EXPECT_FALSE(IsProof(bad, kSecret, ProofSide::kConnector, greeting)) << bad.size();
  }
}

TEST(SecretProofTest, RefusesAnotherSecretSideNonceAndHello) {
  const Greeting greeting = SomeGreeting();
  const ProofBytes good = Prove(kSecret, ProofSide::kConnector, greeting);
  EXPECT_FALSE(Accepts(good, greeting, "0123456789abcdef0123456789abcdeF"));
  EXPECT_FALSE(Accepts(good, greeting, ""));
  EXPECT_FALSE(Accepts(good, greeting, kSecret, ProofSide::kListener));
  Greeting other = greeting;
  other.connector[0] ^= std::byte{1};
  EXPECT_FALSE(Accepts(good, other));
  other = greeting;
  other.listener[15] ^= std::byte{1};
  EXPECT_FALSE(Accepts(good, other));
  other = greeting;
  std::swap(other.connector, other.listener);
  EXPECT_FALSE(Accepts(good, other));
  other = greeting;
  other.hello.push_back(std::byte{0});
  EXPECT_FALSE(Accepts(good, other));
}

TEST(SecretProofTest, NoncesAreDrawnAnewAndTakenWholeOnly) {
  testing::FakeRandom random;
  const Nonce first = DrawNonce(random);
  EXPECT_NE(first, DrawNonce(random));
  Nonce taken{};
  EXPECT_TRUE(TakeNonce(AsText(first), taken));
  EXPECT_EQ(taken, first);
  EXPECT_FALSE(TakeNonce(AsText(first).substr(1), taken));
  EXPECT_FALSE(TakeNonce("", taken));
}

}  // namespace
}  // namespace leeway
