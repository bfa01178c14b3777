// The other end's part of the hello, for tests that are that end (FakeEnv).
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "node/secret_proof.h"
#include "node/testing/fake_env.h"

namespace leeway::testing {

// As a peer that connected to the node: says `hello` and proves `secret`. The node's answer stays to
// be taken, but for its challenge. A hello without a nonce gets one.
inline Status SayHello(FakeTransport& transport, ConnectionId id, wire::pb::Hello hello,
                       std::string_view secret = "") {
  Greeting greeting;
  greeting.connector.fill(std::byte{7});
  if (hello.nonce().empty()) hello.set_nonce(std::string(AsText(greeting.connector)));
  (void)TakeNonce(hello.nonce(), greeting.connector);
  greeting.hello = ControlBody(hello);
  LW_RETURN_IF_ERROR(transport.Deliver(id, wire::Kind::kHello, greeting.hello));
  const auto is_challenge = [id](const SentFrame& frame) {
    return frame.to == id && frame.kind == wire::Kind::kChallenge;
  };
  const auto sent = std::find_if(transport.sent.begin(), transport.sent.end(), is_challenge);
  if (sent == transport.sent.end()) return Unavailable("the hello was not answered with a challenge");
  const auto challenge = ParseAs<wire::pb::Challenge>(*sent);
  transport.sent.erase(sent);
  EXPECT_TRUE(TakeNonce(challenge.nonce(), greeting.listener));
  wire::pb::Proof proof;
  proof.set_proof(std::string(AsText(Prove(secret, ProofSide::kConnector, greeting))));
  return transport.DeliverControl(id, wire::Kind::kProof, proof);
}

// As the peer that the node connected to: challenges it with proof of `secret`, and takes its proof, if it
// sends one, out of what it has sent.
inline Status Challenge(FakeTransport& transport, ConnectionId id, std::string_view secret = "") {
  Greeting greeting;
  greeting.listener.fill(std::byte{8});
  greeting.hello = transport.hellos[id];
  wire::pb::Hello hello;
  EXPECT_TRUE(ParseControl(wire::Kind::kHello, greeting.hello, hello).ok());
  EXPECT_TRUE(TakeNonce(hello.nonce(), greeting.connector));
  wire::pb::Challenge challenge;
  challenge.set_nonce(std::string(AsText(greeting.listener)));
  challenge.set_proof(std::string(AsText(Prove(secret, ProofSide::kListener, greeting))));
  LW_RETURN_IF_ERROR(transport.DeliverControl(id, wire::Kind::kChallenge, challenge));
  for (auto sent = transport.sent.begin(); sent != transport.sent.end(); ++sent) {
    if (sent->to != id || sent->kind != wire::Kind::kProof) continue;
    const auto proof = ParseAs<wire::pb::Proof>(*sent);
    EXPECT_TRUE(IsProof(proof.proof(), secret, ProofSide::kConnector, greeting));
    transport.sent.erase(sent);
    break;
  }
  return Status::Ok();
}

// The same, followed by the welcome.
inline Status Welcome(FakeTransport& transport, ConnectionId id, const wire::pb::Welcome& welcome,
                      std::string_view secret = "") {
  LW_RETURN_IF_ERROR(Challenge(transport, id, secret));
  return transport.DeliverControl(id, wire::Kind::kWelcome, welcome);
}

}  // namespace leeway::testing
