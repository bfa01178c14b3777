// ConnectorHandshake: how the connecting side proves that it knows the job's secret, and checks that the
// listening side knows it (secret_proof.h has the proofs).
//
// One for each link; a Hello begins anew with every connection. Thread rule: the link's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "leeway/env.h"
#include "leeway/status.h"
#include "node/secret_proof.h"
#include "wire/control.pb.h"

namespace leeway {

class ConnectorHandshake {
 public:
  // Adds versions and a fresh nonce to the hello. The body of its frame, which is there until Answer.
  [[nodiscard]] std::span<const std::byte> Hello(wire::pb::Hello hello, Random& random);
  // The own proof, if the listener has proven to know `secret`. The error names `peer`, the listener as
  // people know it.
  [[nodiscard]] Result<wire::pb::Proof> Answer(const wire::pb::Challenge& challenge, std::string_view secret,
                                               const std::string& peer);

  // A peer of the job has proven to know the secret, so it is the right one.
  void Trust() { trusted_ = true; }
  [[nodiscard]] bool trusted() const { return trusted_; }

 private:
  Greeting greeting_;
  bool trusted_ = false;
};

}  // namespace leeway
