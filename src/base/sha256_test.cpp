// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <gtest/gtest.h>

#include "base/sha256_rounds.h"

namespace harn::base {
namespace {

// Vectors of FIPS 180-4 / NIST CAVS.
TEST(Sha256, AgreesWithTheStandard) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HandlesEveryPaddingLength) {
  // 55, 56, 63, 64 and 65 bytes cross the padding boundaries.
  EXPECT_EQ(sha256_hex(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256_hex(std::string(56, 'a')), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256_hex(std::string(63, 'a')), "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
  EXPECT_EQ(sha256_hex(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(sha256_hex(std::string(65, 'a')), "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
}

TEST(Sha256, OfPiecesIsThatOfTheWhole) {
  const std::string text = std::string(63, 'a') + std::string(200, 'b') + "c";
  for (std::size_t piece = 1; piece < text.size(); piece += 7) {
    Sha256 sum;
    for (std::size_t at = 0; at < text.size(); at += piece) sum.add(std::string_view(text).substr(at, piece));
    EXPECT_EQ(sum.hex(), sha256_hex(text)) << piece;
    EXPECT_EQ(sum.size(), text.size());
  }
}

// One of the two is never used on this machine otherwise.
TEST(Sha256, InstructionsAndHandAgree) {
  std::string text(64 * 5, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 37 + 11);
  Sha256State by_instruction{1, 2, 3, 4, 5, 6, 7, 0xffffffff};
  auto by_hand = by_instruction;
  if (!add_blocks_by_instruction(by_instruction, text.data(), 5)) GTEST_SKIP() << "this processor has no instructions for SHA-256";
  for (std::size_t i = 0; i < 5; ++i) add_block_by_hand(by_hand, text.data() + 64 * i);
  EXPECT_EQ(by_instruction, by_hand);
}

}  // namespace
}  // namespace harn::base
