// SPDX-License-Identifier: Apache-2.0
// Secrets and loader variables of the caller do not reach the command, not even through a parent.
#include "confine/support/stand.h"

namespace harn::confine {
namespace {

constexpr auto secret = "harn-confine-secret-value";

Extras secrets(Scene&) {
  Extras extras;
  for (const auto* name : {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN",
                           "DB_PASSWORD", "CLIENT_SECRET", "AWS_SESSION_TOKEN", "SSH_AUTH_SOCK"})
    extras.environment[name] = secret;
  extras.environment["LD_PRELOAD"] = "libc.so.6";
  extras.environment["LD_LIBRARY_PATH"] = "/harn-no-such-directory";
  extras.environment["LD_BIND_NOW"] = "1";
  extras.environment["GLIBC_TUNABLES"] = "glibc.malloc.check=0";
  return extras;
}

const Case cases[] = {
    {.id = "anthropic", .probe = "variable", .args = {"ANTHROPIC_API_KEY"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "openai", .probe = "variable", .args = {"OPENAI_API_KEY"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "google", .probe = "variable", .args = {"GOOGLE_API_KEY"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "aws", .probe = "variable", .args = {"AWS_SECRET_ACCESS_KEY"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "aws_session", .probe = "variable", .args = {"AWS_SESSION_TOKEN"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "github", .probe = "variable", .args = {"GITHUB_TOKEN"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "npm", .probe = "variable", .args = {"NPM_TOKEN"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "database", .probe = "variable", .args = {"DB_PASSWORD"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "client", .probe = "variable", .args = {"CLIENT_SECRET"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "agent_socket", .probe = "variable", .args = {"SSH_AUTH_SOCK"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "preload", .probe = "variable", .args = {"LD_PRELOAD"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "library_path", .probe = "variable", .args = {"LD_LIBRARY_PATH"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "loader_switch", .probe = "variable", .args = {"LD_BIND_NOW"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "tunables", .probe = "variable", .args = {"GLIBC_TUNABLES"}, .view = "ENOENT", .bare = "ENOENT"},
    {.id = "value_in_any_process", .probe = "value_anywhere", .args = {secret}, .view = "ENOENT", .bare = "ENOENT"},
};

const bool registered = promise({.name = "SecretsAreStripped", .cases = cases, .extras = secrets});

}  // namespace
}  // namespace harn::confine
