// SPDX-License-Identifier: Apache-2.0
#include "policy/near_credentials.h"

#include <gtest/gtest.h>

namespace harn::policy {
namespace {

std::vector<std::string_view> near(const char* home, std::initializer_list<const char*> granted) {
  NearCredentials credentials(AbsPath::of(home));
  for (const auto* path : granted) credentials.pick_near(AbsPath::of(path));
  std::vector<std::string_view> paths;
  for (const auto& row : credentials.picked()) paths.push_back(row.path);
  return paths;
}

using Paths = std::vector<std::string_view>;

TEST(NearCredentials, AreThoseBeneathWhatIsGranted) {
  EXPECT_EQ(near("/home/u", {"/home/u/.cargo"}), (Paths{".cargo/credentials", ".cargo/credentials.toml"}));
  EXPECT_EQ(near("/home/u", {"/home/u/.m2", "/home/u/.gem"}), (Paths{".gem/credentials", ".m2/settings-security.xml", ".m2/settings.xml"}));
}

TEST(NearCredentials, AreThoseAtAndAboveIt) {
  EXPECT_EQ(near("/home/u", {"/home/u/.ssh"}), Paths{".ssh"});
  EXPECT_EQ(near("/home/u", {"/home/u/.ssh/keys/old"}), Paths{".ssh"});
  EXPECT_EQ(near("/home/u", {"/home/u/.config/gh/hosts.yml"}), Paths{".config/gh"});
}

TEST(NearCredentials, AreAllWhereTheHomeLiesInsideAGrant) {
  for (const auto* above : {"/", "/home", "/home/u"}) EXPECT_EQ(near("/home/u", {above}).size(), home_credentials().size()) << above;
  EXPECT_EQ(near("/", {"/"}).size(), home_credentials().size());
}

TEST(NearCredentials, AreNoneElsewhere) {
  EXPECT_EQ(near("/home/u", {"/home/u2/.ssh", "/home/u/.ss", "/home/u/.sshd", "/home/u/src", "/usr", "/.ssh"}), Paths{});
}

TEST(NearCredentials, AreFoundDirectlyInARootThatIsAHome) { EXPECT_EQ(near("/", {"/.ssh/keys", "/.aws"}), (Paths{".aws", ".ssh"})); }

TEST(NearCredentials, ArePickedInTheOrderOfPathsWhateverIsAskedFirst) {
  EXPECT_EQ(near("/home/u", {"/home/u/.ssh", "/home/u/.aws", "/home/u/.ssh/x"}), (Paths{".aws", ".ssh"}));
}

TEST(FindCredential, KnowsTheExactPathOnly) {
  const auto home = AbsPath::of("/home/u");
  ASSERT_NE(find_credential(home, "/home/u/.npmrc"), nullptr);
  EXPECT_TRUE(find_credential(home, "/home/u/.npmrc")->package_token);
  EXPECT_FALSE(find_credential(home, "/home/u/.ssh")->package_token);
  for (const auto* path : {"/home/u", "/home/u/.ssh/id", "/home/u2/.ssh", "/home/u/.config", "/.ssh", "relative"})
    EXPECT_EQ(find_credential(home, path), nullptr) << path;
}

}  // namespace
}  // namespace harn::policy
