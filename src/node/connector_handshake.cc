#include "node/connector_handshake.h"

#include "base/errors.h"
#include "node/control_frame.h"
#include "wire/kind.h"

namespace leeway {

std::span<const std::byte> ConnectorHandshake::Hello(wire::pb::Hello hello, Random& random) {
  hello.set_version_min(wire::kVersionMin);
  hello.set_version_max(wire::kVersionMax);
  greeting_.connector = DrawNonce(random);
  hello.set_nonce(std::string(AsText(greeting_.connector)));
  greeting_.hello = ControlBody(hello);
  return greeting_.hello;
}

Result<wire::pb::Proof> ConnectorHandshake::Answer(const wire::pb::Challenge& challenge,
                                                   std::string_view secret, const std::string& peer) {
  const bool proven = TakeNonce(challenge.nonce(), greeting_.listener) &&
                      IsProof(challenge.proof(), secret, ProofSide::kListener, greeting_);
  if (!proven) {
    const bool insecure = IsProof(challenge.proof(), "", ProofSide::kListener, greeting_);
    return InvalidArgument(
        "{} did not prove that it knows the job's secret: {}", peer,
        insecure ? "it was started with --insecure, and this process has a secret; start both alike"
        : secret.empty()
            ? "it has one, and this process has none; give it with --secret-file or LEEWAY_SECRET_FILE"
            : "it has another one, or is no node of this job; is --secret-file (LEEWAY_SECRET_FILE) the file "
              "of this job?");
  }
  Trust();
  wire::pb::Proof proof;
  proof.set_proof(std::string(AsText(Prove(secret, ProofSide::kConnector, greeting_))));
  greeting_ = {};
  return proof;
}

}  // namespace leeway
