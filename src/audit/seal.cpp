// SPDX-License-Identifier: Apache-2.0
#include "audit/seal.h"

#include <sodium.h>

#include <array>

namespace harn::audit {
namespace {

using PublicKey = std::array<unsigned char, crypto_sign_PUBLICKEYBYTES>;
using SecretKey = std::array<unsigned char, crypto_sign_SECRETKEYBYTES>;
using Seal = std::array<unsigned char, crypto_sign_BYTES>;

std::unexpected<Error> cannot(std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::io, .stage = Stage::audit, .message = std::move(message), .hint = std::move(hint)});
}

template <class Bytes>
std::string hex(const Bytes& bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  text.pop_back();
  return text;
}

template <class Bytes>
bool read_hex(std::string_view text, Bytes& bytes) {
  std::size_t length = 0;
  return text.size() == 2 * bytes.size() &&
         sodium_hex2bin(bytes.data(), bytes.size(), text.data(), text.size(), nullptr, &length, nullptr) == 0 && length == bytes.size();
}

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

Result<KeyPair> make_keys() {
  if (sodium_init() < 0) return cannot("the library that makes seals did not start", "");
  PublicKey public_key{};
  SecretKey secret_key{};
  crypto_sign_keypair(public_key.data(), secret_key.data());
  KeyPair keys{.public_key = hex(public_key), .secret_key = hex(secret_key)};
  sodium_memzero(secret_key.data(), secret_key.size());
  return keys;
}

Result<std::string> make_seal(std::string_view text, std::string_view secret_key, std::string_view public_key) {
  if (sodium_init() < 0) return cannot("the library that makes seals did not start", "");
  SecretKey secret{};
  PublicKey matching{};
  if (!read_hex(secret_key, secret))
    return cannot("the key that seals the audit log is damaged", "'harn audit keygen --replace' makes a new one");
  crypto_sign_ed25519_sk_to_pk(matching.data(), secret.data());
  if (hex(matching) != public_key)
    return cannot("the key that seals the audit log is not the one the log names", "'harn audit keygen --replace' makes a new one");
  Seal seal{};
  crypto_sign_detached(seal.data(), nullptr, bytes_of(text), text.size(), secret.data());
  sodium_memzero(secret.data(), secret.size());
  return hex(seal);
}

bool seal_is_right(std::string_view text, std::string_view seal, std::string_view public_key) {
  PublicKey key{};
  Seal signature{};
  return sodium_init() >= 0 && read_hex(public_key, key) && read_hex(seal, signature) &&
         crypto_sign_verify_detached(signature.data(), bytes_of(text), text.size(), key.data()) == 0;
}

}  // namespace harn::audit
