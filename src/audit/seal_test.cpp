// SPDX-License-Identifier: Apache-2.0
#include "audit/seal.h"

#include <gtest/gtest.h>

namespace harn::audit {
namespace {

TEST(AuditSeal, HoldsForItsTextAndItsKeyOnly) {
  const auto keys = make_keys();
  const auto other = make_keys();
  ASSERT_TRUE(keys && other);
  const auto seal = make_seal("text", keys->secret_key, keys->public_key);
  ASSERT_TRUE(seal);
  EXPECT_TRUE(seal_is_right("text", *seal, keys->public_key));
  EXPECT_FALSE(seal_is_right("texT", *seal, keys->public_key));
  EXPECT_FALSE(seal_is_right("text", *seal, other->public_key));
  EXPECT_FALSE(seal_is_right("text", "-", keys->public_key));
  EXPECT_FALSE(seal_is_right("text", *seal, "no key"));
  EXPECT_FALSE(make_seal("text", keys->secret_key, other->public_key));
  EXPECT_FALSE(make_seal("text", "no key", keys->public_key));
}

// RFC 8032, section 7.1, test 1.
TEST(AuditSeal, IsEd25519) {
  const std::string secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
  const std::string open = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
  const auto seal = make_seal("", secret + open, open);
  ASSERT_TRUE(seal);
  EXPECT_EQ(
      *seal,
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b");
}

}  // namespace
}  // namespace harn::audit
