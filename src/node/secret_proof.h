// SecretProof: how the two ends of a new connection prove to each other that they know the job's secret.
//
// A proof is an HMAC-SHA256, keyed with the secret, over the prover's side, a nonce of each end and the exact
// bytes of the hello. Fresh nonces make the proof of an earlier connection worthless; the hello's bytes bind
// role, rank, incarnation and life. The side keeps a proof from being sent back to its maker. Pure functions
// for any thread; docs/decisions/0024-job-secret.md says what they protect against.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "leeway/env.h"

namespace leeway {

inline constexpr std::size_t kNonceBytes = 16;
inline constexpr std::size_t kProofBytes = 32;
using Nonce = std::array<std::byte, kNonceBytes>;
using ProofBytes = std::array<std::byte, kProofBytes>;

enum class ProofSide : std::uint8_t { kListener, kConnector };

// The words of both ends of one connection before the first proof.
struct Greeting {
  Nonce connector{};
  Nonce listener{};
  std::vector<std::byte> hello;  // the body of the frame, as it was sent
};

[[nodiscard]] Nonce DrawNonce(Random& random);
// An empty secret is that of a node that was started without one (--insecure): such nodes accept each other
// and nobody else.
[[nodiscard]] ProofBytes Prove(std::string_view secret, ProofSide side, const Greeting& greeting);
// Takes the same time wherever `proof` differs.
[[nodiscard]] bool IsProof(std::string_view proof, std::string_view secret, ProofSide side,
                           const Greeting& greeting);

// Bytes as a control message holds them.
[[nodiscard]] std::string_view AsText(std::span<const std::byte> bytes);
// False if `text` has not exactly the size of a nonce.
[[nodiscard]] bool TakeNonce(std::string_view text, Nonce& nonce);

}  // namespace leeway
