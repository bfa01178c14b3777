#include "node/connector_handshake.h"

#include <gtest/gtest.h>

#include "node/control_frame.h"
#include "wire/kind.h"

namespace leeway {
namespace {

class CountingRandom final : public Random {
 public:
  std::uint64_t Next() override { return ++last_; }

 private:
  std::uint64_t last_ = 0;
};

class ConnectorHandshakeTest : public ::testing::Test {
 protected:
  // Says hello, and keeps it as the listener would.
  wire::pb::Hello SayHello() {
    const std::span<const std::byte> body = handshake.Hello({}, random);
    wire::pb::Hello hello;
    EXPECT_TRUE(ParseControl(wire::Kind::kHello, body, hello).ok());
    listener.hello.assign(body.begin(), body.end());
    EXPECT_TRUE(TakeNonce(hello.nonce(), listener.connector));
    listener.listener = DrawNonce(random);
    return hello;
  }
  // The challenge of a listener that knows this secret.
  wire::pb::Challenge ChallengeWith(std::string_view secret) {
    wire::pb::Challenge challenge;
    challenge.set_nonce(std::string(AsText(listener.listener)));
    challenge.set_proof(std::string(AsText(Prove(secret, ProofSide::kListener, listener))));
    return challenge;
  }
  std::string WhyNot(std::string_view theirs, std::string_view ours) {
    return handshake.Answer(ChallengeWith(theirs), ours, "scheduler at a:1").status().message();
  }

  CountingRandom random;
  Greeting listener;
  ConnectorHandshake handshake;
};

TEST_F(ConnectorHandshakeTest, AListenerThatKnowsTheSecretGetsAProof) {
  const wire::pb::Hello hello = SayHello();
  EXPECT_EQ(hello.version_max(), wire::kVersionMax);
  EXPECT_FALSE(handshake.trusted());
  const Result<wire::pb::Proof> proof = handshake.Answer(ChallengeWith("secret"), "secret", "scheduler");
  ASSERT_TRUE(proof.ok());
  EXPECT_TRUE(IsProof(proof->proof(), "secret", ProofSide::kConnector, listener));
  EXPECT_TRUE(handshake.trusted());
}

TEST_F(ConnectorHandshakeTest, AListenerThatDoesNotKnowItGetsNoneAndTheErrorSaysWhatDiffers) {
  SayHello();
  EXPECT_EQ(
      WhyNot("other", "secret"),
      "scheduler at a:1 did not prove that it knows the job's secret: it has another one, or is no node of "
      "this job; is --secret-file (LEEWAY_SECRET_FILE) the file of this job?");
  EXPECT_EQ(
      WhyNot("", "secret"),
      "scheduler at a:1 did not prove that it knows the job's secret: it was started with --insecure, and "
      "this process has a secret; start both alike");
  EXPECT_EQ(WhyNot("other", ""),
            "scheduler at a:1 did not prove that it knows the job's secret: it has one, and this process has "
            "none; give it with --secret-file or LEEWAY_SECRET_FILE");
  EXPECT_FALSE(handshake.trusted());
}

TEST_F(ConnectorHandshakeTest, AProofOfAnEarlierConnectionIsWorthNothing) {
  SayHello();
  const wire::pb::Challenge earlier = ChallengeWith("secret");
  SayHello();
  EXPECT_FALSE(handshake.Answer(earlier, "secret", "scheduler").ok());
  EXPECT_TRUE(handshake.Answer(ChallengeWith("secret"), "secret", "scheduler").ok());
}

}  // namespace
}  // namespace leeway
