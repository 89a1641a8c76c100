// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harn/policy_text.h"

namespace harn {
namespace {

const TextContext context{.home = AbsPath::of("/home/me"), .file_name = "config.toml"};

TEST(UserConfig, HasAPolicyAndTheAuditTable) {
  const auto config = parse_user_config_toml(
      "sandbox_profile = \"os_hardened\"\n[audit]\nmode = \"off\"\nrotate_size = \"1M\"\nkeep_size = \"2M\"\nkeep_days = "
      "30\n[limits]\nmax_processes = 3\n",
      context);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->policy.profile(), Profile::os_hardened);
  EXPECT_EQ(config->policy.limits.max_processes, 3u);
  EXPECT_EQ(config->audit,
            (AuditSettings{.mode = AuditMode::off, .rotate_bytes = 1u << 20, .keep_bytes = 2u << 20, .keep_age = std::chrono::days(30)}));
  EXPECT_EQ(parse_user_config_toml("", context)->audit, AuditSettings{});
  EXPECT_EQ(parse_user_config_json(R"({"audit": {"mode": "power"}})", context)->audit.mode, AuditMode::power);
}

TEST(UserConfig, NamesTheImageOfContainers) {
  EXPECT_EQ(parse_user_config_toml("[sandbox]\ndocker_image = \"mine:1\"\n", context)->docker_image, "mine:1");
  EXPECT_EQ(parse_user_config_toml("", context)->docker_image, "");
  for (const auto* text :
       {"sandbox = 3\n", "[sandbox]\ndocker_image = \"-v\"\n", "[sandbox]\ndocker_image = 3\n", "[sandbox]\nmode = \"none\"\n"})
    EXPECT_FALSE(parse_user_config_toml(text, context)) << text;
}

TEST(UserConfig, MistakesAreNamed) {
  const auto error_of = [&](std::string_view text) {
    const auto config = parse_user_config_toml(text, context);
    return config ? "" : describe(config.error());
  };
  EXPECT_EQ(error_of("audit = 3\n").substr(0, 16), "config.toml:1:9:");
  EXPECT_NE(error_of("[audit]\nmod = \"off\"\n").find("mode"), std::string::npos);
  EXPECT_NE(error_of("[audit]\nmode = \"of\"\n").find("off"), std::string::npos);
  EXPECT_NE(error_of("[audit]\nmode = 1\n"), "");
  EXPECT_NE(error_of("[audit]\nkeep_days = 0\n"), "");
  EXPECT_NE(error_of("[audit]\nkeep_size = \"12\"\n"), "");
  EXPECT_NE(error_of("[audit]\nrotate_size = \"much\"\n"), "");
}

// What a project or a policy file may not say.
TEST(UserConfig, NoPolicyHasTheAuditTable) {
  EXPECT_FALSE(parse_policy_toml("[audit]\nmode = \"off\"\n", context));
  EXPECT_FALSE(parse_policy_json(R"({"audit": {"mode": "off"}})", context));
}

}  // namespace
}  // namespace harn
