#include "node/secret_proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstring>

#include "base/check.h"

namespace leeway {
namespace {

// Both labels have the same length, so the fields after them have fixed offsets.
constexpr std::string_view kListenerLabel = "leeway 1 listener ";
constexpr std::string_view kConnectorLabel = "leeway 1 connector";
static_assert(kListenerLabel.size() == kConnectorLabel.size());

void Append(std::vector<unsigned char>& to, const void* bytes, std::size_t count) {
  const auto* const first = static_cast<const unsigned char*>(bytes);
  to.insert(to.end(), first, first + count);
}

}  // namespace

Nonce DrawNonce(Random& random) {
  Nonce nonce;
  for (std::size_t at = 0; at < nonce.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random.Next();
    std::memcpy(nonce.data() + at, &bits, sizeof(bits));
  }
  return nonce;
}

ProofBytes Prove(std::string_view secret, ProofSide side, const Greeting& greeting) {
  const std::string_view label = side == ProofSide::kListener ? kListenerLabel : kConnectorLabel;
  std::vector<unsigned char> message;
  message.reserve(label.size() + 2 * kNonceBytes + greeting.hello.size());
  Append(message, label.data(), label.size());
  Append(message, greeting.connector.data(), greeting.connector.size());
  Append(message, greeting.listener.data(), greeting.listener.size());
  Append(message, greeting.hello.data(), greeting.hello.size());
  ProofBytes proof;
  unsigned int bytes = 0;
  const unsigned char* const made =
      HMAC(EVP_sha256(), secret.data() == nullptr ? "" : secret.data(), static_cast<int>(secret.size()),
           message.data(), message.size(), reinterpret_cast<unsigned char*>(proof.data()), &bytes);
  LW_CHECK(made != nullptr && bytes == proof.size(), "HMAC-SHA256 gave {} bytes", bytes);
  return proof;
}

bool IsProof(std::string_view proof, std::string_view secret, ProofSide side, const Greeting& greeting) {
  if (proof.size() != kProofBytes) return false;
  const ProofBytes wanted = Prove(secret, side, greeting);
  return CRYPTO_memcmp(proof.data(), wanted.data(), wanted.size()) == 0;
}

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool TakeNonce(std::string_view text, Nonce& nonce) {
  if (text.size() != nonce.size()) return false;
  std::memcpy(nonce.data(), text.data(), nonce.size());
  return true;
}

}  // namespace leeway
