// SPDX-License-Identifier: Apache-2.0
#include "policy/env_rules.h"

#include <gtest/gtest.h>

namespace harn::policy {
namespace {

using Variables = std::map<std::string, std::string>;
using Removed = std::vector<EnvRemoved>;

EnvOutcome applied(const EnvRules& rules, const Variables& caller) { return apply_env_rules(rules, caller); }

const std::string never = "never reaches a sandbox; nothing can pass it";

TEST(EnvRules, InheritPassesOrdinaryProxyAndCertificateVariables) {
  const Variables caller{{"PATH", "/bin"},
                         {"LANG", "C"},
                         {"https_proxy", "http://p:1"},
                         {"NO_PROXY", "x"},
                         {"SSL_CERT_FILE", "/c"},
                         {"AWS_CA_BUNDLE", "/c"},
                         {"NODE_EXTRA_CA_CERTS", "/c"},
                         {"NODE_OPTIONS", "-x"},
                         {"TOKENIZERS_PARALLELISM", "0"},
                         {"PWD", "/"},
                         {"SSH_ASKPASS", "/a"},
                         {"KEYBOARD", "de"}};
  EXPECT_EQ(applied({}, caller), (EnvOutcome{.variables = caller, .removed = {}}));
}

TEST(EnvRules, TheFiveNamesPassByNoRoute) {
  const EnvRules rules{.mode = EnvMode::patch,
                       .set = {{"OPENAI_API_KEY", "s"}, {"github_token", "s"}},
                       .remove = {},
                       .passthrough = std::set<std::string>{"ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"},
                       .strip = {}};
  const Variables caller{{"ANTHROPIC_API_KEY", "1"}, {"GOOGLE_API_KEY", "1"}, {"AWS_SECRET_ACCESS_KEY", "1"}, {"GITHUB_TOKEN", "1"}};
  const Removed expected{{"ANTHROPIC_API_KEY", never}, {"AWS_SECRET_ACCESS_KEY", never}, {"GITHUB_TOKEN", never},
                         {"GOOGLE_API_KEY", never},    {"OPENAI_API_KEY", never},        {"github_token", never}};
  for (const auto mode : {EnvMode::inherit, EnvMode::patch, EnvMode::replace}) {
    EnvRules with_mode = rules;
    with_mode.mode = mode;
    EXPECT_EQ(applied(with_mode, caller), (EnvOutcome{.variables = {}, .removed = expected}));
  }
}

TEST(EnvRules, SecretNamesAreRecognisedByPatternInAnyCase) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"MISTRAL_API_KEY", "*_API_KEY"},
      {"stripe_apikey", "*_APIKEY"},
      {"GH_TOKEN", "*_TOKEN"},
      {"token", "TOKEN"},
      {"npm_config_//registry.npmjs.org/:_authToken", "*AUTHTOKEN"},
      {"AZURE_DEVOPS_EXT_PAT", "*_PAT"},
      {"MY_SECRET_THING", "*SECRET*"},
      {"PGPASSWORD", "*PASSWORD*"},
      {"DB_PASSWD_FILE", "*PASSWD*"},
      {"GPG_PASSPHRASE", "*PASSPHRASE*"},
      {"SMTP_PASS", "*_PASS"},
      {"MYSQL_PWD", "MYSQL_PWD"},
      {"GOOGLE_APPLICATION_CREDENTIALS", "*_CREDENTIALS"},
      {"X_CREDENTIAL", "*_CREDENTIAL"},
      {"AWS_PROFILE", "AWS_*"},
      {"ALIBABA_ACCESS_KEY_ID", "*_ACCESS_KEY*"},
      {"APP_PRIVATE_KEY_PATH", "*_PRIVATE_KEY*"},
      {"RAILS_MASTER_KEY", "*_KEY"},
      {"COMPOSER_AUTH", "*_AUTH"},
      {"DOCKER_AUTH_CONFIG", "*_AUTH_CONFIG"},
      {"SENTRY_DSN", "*_DSN"},
      {"DATABASE_URL", "*DATABASE_URL"},
      {"AZURE_CONNECTION_STRING", "*_CONNECTION_STRING"},
      {"SLACK_WEBHOOK_URL", "*_WEBHOOK_URL"},
      {"OP_SESSION_my", "OP_SESSION_*"},
      {"BW_SESSION", "BW_SESSION"},
      {"KUBECONFIG", "KUBECONFIG"},
      {"XAUTHORITY", "XAUTHORITY"},
      {"SSH_AUTH_SOCK", "SSH_AUTH_SOCK"},
      {"GPG_AGENT_INFO", "GPG_AGENT_INFO"},
      {"DBUS_SESSION_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS"},
      {"DOCKER_HOST", "DOCKER_HOST"},
      {"CONTAINER_HOST", "CONTAINER_HOST"},
      {"HOME", ""},
      {"AWS_CA_BUNDLE", ""},
  };
  for (const auto& [name, pattern] : cases) EXPECT_EQ(secret_pattern(name), pattern) << name;
}

TEST(EnvRules, PassthroughLiftsASecretOnlyByItsExactName) {
  const EnvRules rules{
      .mode = EnvMode::inherit, .set = {}, .remove = {}, .passthrough = std::set<std::string>{"GH_TOKEN", "AWS_*", "my_key"}, .strip = {}};
  const Variables caller{{"GH_TOKEN", "1"}, {"AWS_REGION", "eu"}, {"MY_KEY", "1"}};
  const EnvOutcome expected{
      .variables = {{"GH_TOKEN", "1"}},
      .removed = {{"AWS_REGION", "matches 'AWS_*' (cloud identity: keys, session, profile, role); env.passthrough can name it"},
                  {"MY_KEY", "matches '*_KEY' (keys; hardly anything harmless is named so); env.passthrough can name it"}}};
  EXPECT_EQ(applied(rules, caller), expected);
}

TEST(EnvRules, LoaderAndShellStartVariablesOfTheCallerDoNotPass) {
  const EnvRules rules{.mode = EnvMode::inherit,
                       .set = {{"LD_LIBRARY_PATH", "/opt/lib"}},
                       .remove = {},
                       .passthrough = std::set<std::string>{"LD_PRELOAD", "ENV"},
                       .strip = {}};
  const Variables caller{{"LD_PRELOAD", "x"},     {"LD_LIBRARY_PATH", "y"}, {"DYLD_INSERT_LIBRARIES", "x"},
                         {"GLIBC_TUNABLES", "x"}, {"BASH_ENV", "x"},        {"ENV", "x"},
                         {"ENVIRONMENT", "x"}};
  const EnvOutcome expected{.variables = {{"ENVIRONMENT", "x"}},
                            .removed = {{"BASH_ENV", "matches 'BASH_ENV' (a file every bash script runs first)"},
                                        {"DYLD_INSERT_LIBRARIES", "matches 'DYLD_*' (the dynamic loader of macOS)"},
                                        {"ENV", "matches 'ENV' (a file every POSIX shell runs first)"},
                                        {"GLIBC_TUNABLES", "matches 'GLIBC_TUNABLES' (the C library)"},
                                        {"LD_LIBRARY_PATH", "matches 'LD_*' (the dynamic loader of ELF systems)"},
                                        {"LD_PRELOAD", "matches 'LD_*' (the dynamic loader of ELF systems)"}}};
  EXPECT_EQ(applied(rules, caller), expected);
}

TEST(EnvRules, SetIsBeatenByRemoveAndRemoveByStrip) {
  const EnvRules rules{.mode = EnvMode::patch,
                       .set = {{"A", "set"}, {"B", "set"}, {"C", "set"}, {"DB_PASSWORD", "set"}},
                       .remove = {"B", "C", "D"},
                       .passthrough = {},
                       .strip = {"C", "e_*", "*mid*dle*"}};
  const Variables caller{{"A", "caller"}, {"D", "caller"}, {"E_1", "caller"}, {"F", "caller"}, {"xMIDxxDLEx", ""}, {"MIDDL", ""}};
  const EnvOutcome expected{.variables = {{"A", "set"}, {"DB_PASSWORD", "set"}, {"F", "caller"}, {"MIDDL", ""}},
                            .removed = {{"B", "removed by env.remove"},
                                        {"C", "stripped by env.strip 'C'"},
                                        {"D", "removed by env.remove"},
                                        {"E_1", "stripped by env.strip 'e_*'"},
                                        {"xMIDxxDLEx", "stripped by env.strip '*mid*dle*'"}}};
  EXPECT_EQ(applied(rules, caller), expected);
  EnvRules inherited = rules;
  inherited.mode = EnvMode::inherit;
  EXPECT_EQ(applied(inherited, caller), expected) << "a written set or remove is never ignored";
}

TEST(EnvRules, ReplaceKeepsOnlySetAndPassthrough) {
  const EnvRules rules{.mode = EnvMode::replace,
                       .set = {{"A", "set"}},
                       .remove = {},
                       .passthrough = std::set<std::string>{"PATH", "GH_TOKEN", "ABSENT"},
                       .strip = {}};
  const Variables caller{{"A", "caller"}, {"PATH", "/bin"}, {"GH_TOKEN", "1"}, {"HOME", "/h"}, {"NPM_TOKEN", "1"}};
  const EnvOutcome expected{.variables = {{"A", "set"}, {"GH_TOKEN", "1"}, {"PATH", "/bin"}},
                            .removed = {{"HOME", "not carried over by env.mode 'replace'"},
                                        {"NPM_TOKEN", "matches '*_TOKEN' (access tokens); env.passthrough can name it"}}};
  EXPECT_EQ(applied(rules, caller), expected);
}

TEST(EnvRules, AStripPatternOfOneStarRemovesEverything) {
  const EnvRules rules{
      .mode = EnvMode::inherit, .set = {{"A", "1"}}, .remove = {}, .passthrough = std::set<std::string>{"B"}, .strip = {"*"}};
  EXPECT_EQ(applied(rules, {{"B", "2"}}),
            (EnvOutcome{.variables = {}, .removed = {{"A", "stripped by env.strip '*'"}, {"B", "stripped by env.strip '*'"}}}));
}

}  // namespace
}  // namespace harn::policy
