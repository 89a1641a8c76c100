// SPDX-License-Identifier: Apache-2.0
#include "cli/load.h"

#include <pwd.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace harn::cli {
namespace {

TEST(Load, SettingsOfACallerWithoutHomeLieInTheAccountsHome) {
  const auto* account = ::getpwuid(::geteuid());
  if (account == nullptr) GTEST_SKIP() << "this user has no account";
  const auto home = AbsPath::of(account->pw_dir);
  for (const Caller& caller : {Caller{}, Caller{.environment = {{"HOME", "relative"}}}}) {
    EXPECT_EQ(path_context(caller).home, home);
    EXPECT_EQ(trust_file(caller), home.join(".local/state/harn/trusted"));
    EXPECT_EQ(user_config_file(caller), home.join(".config/harn/config.toml"));
  }
  EXPECT_EQ(path_context({.environment = {{"HOME", "/elsewhere"}}}).home, AbsPath::of("/elsewhere"));
}

}  // namespace
}  // namespace harn::cli
