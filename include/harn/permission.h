// SPDX-License-Identifier: Apache-2.0
// PermissionPolicy: what may be read, written, run and reached, as four lists of patterns, and its
// lowering to a Policy.
//
//   {"read": ["src/**", "/usr/include/**"], "write": ["build/**"], "exec": ["**"], "net": ["*.example.org:443"]}
//
// An empty list allows nothing. Path globs (`**`, `*`, `?`, `[]`, `{}`; `*` does not cross '/')
// that are relative start at the project root; one without wildcards names a file, or a directory
// with all beneath it. `net` holds host rules, or `*` for every host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harn/policy.h"
#include "harn/policy_text.h"

namespace harn {

struct PermissionPolicy {
  std::vector<std::string> read = {};
  std::vector<std::string> write = {};
  std::vector<std::string> exec = {};
  std::vector<std::string> net = {};

  // Everything in the project, nothing on the network.
  static PermissionPolicy local_dev();

  bool operator==(const PermissionPolicy&) const = default;
};

// Strict, like policies. "~/" and "$HOME/" at the start of a glob become the home directory.
Result<PermissionPolicy> permission_from_json(std::string_view text, const TextContext& context);
Result<PermissionPolicy> permission_from_toml(std::string_view text, const TextContext& context);

std::string permission_to_json(const PermissionPolicy& permission, int indent = 2);

// "policy-" + 24 hex digits of SHA-256 over the canonical JSON, in which lists are sorted and free
// of duplicates.
std::string digest(const PermissionPolicy& permission);

// A pattern the lowered policy does not express exactly. The policy is wider by this much.
struct PermissionRemainder {
  std::string axis = {};     // "read", "write" or "exec"
  std::string glob = {};     // as written
  std::string granted = {};  // the path that is granted instead; empty for exec
  std::string why = {};      // one sentence

  auto operator<=>(const PermissionRemainder&) const = default;
};

struct LoweredPermission {
  Policy policy = {};
  std::vector<PermissionRemainder> remainders = {};  // sorted

  bool operator==(const LoweredPermission&) const = default;
};

// level = the highest non-empty axis; read → read_text list exists; write → write_text delete;
// exec → process.exec; a path glob → a grant on its longest literal prefix; net → network. The
// empty permission lowers to a policy that allows nothing.
Result<LoweredPermission> lower_permission(const PermissionPolicy& permission, const AbsPath& project_root);

}  // namespace harn
