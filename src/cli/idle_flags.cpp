// SPDX-License-Identifier: Apache-2.0
#include "cli/idle_flags.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "host/resolve_paths.h"
#include "policy/env_rules.h"
#include "policy/path_model.h"
#include "policy/presets.h"

namespace harn::cli {
namespace {

bool lifts_something(const Policy& policy, const AbsPath& path) {
  for (const auto& root : policy::PathModel(policy).writable_roots())
    for (const auto& entry : policy::protected_names()) {
      const auto name = root.join(entry.name);
      if (path.contains(name) || name.contains(path)) return true;
    }
  return false;
}

// Where a path of the command line really is.
Result<AbsPath> real_place(const AbsPath& path, const Prepared& prepared) {
  if (!prepared.this_host) return path;
  return host::resolve_parent(path);
}

}  // namespace

Result<std::vector<std::string>> flags_in_vain(const Arguments& arguments, const Prepared& prepared) {
  std::vector<std::string> out;
  for (const auto* option : {"read", "write"}) {
    HARN_TRY(paths, path_arguments(arguments.all(option), prepared.context));
    for (const auto& path : paths) {
      HARN_TRY(real, real_place(path, prepared));
      if (!prepared.rules.decide(real, FileOp::read).allowed)
        out.push_back(
            fmt::format("--{} {} opens nothing: built-in credential paths and denials stay closed ('harn plan --explain-path' says which)",
                        option, base::quoted(path.text())));
    }
  }
  for (const auto& name : arguments.all("env-pass"))
    if (policy::always_stripped(name))
      out.push_back(fmt::format("--env-pass {}: this variable never reaches a sandbox", base::quoted(name)));
  return out;
}

Result<std::vector<std::string>> idle_flag_notes(const Arguments& arguments, const Prepared& prepared) {
  std::vector<std::string> notes;
  HARN_TRY(denied, path_arguments(arguments.all("deny"), prepared.context));
  for (const auto& path : denied)
    if (prepared.this_host && host::look_at(path).kind == PathKind::missing)
      notes.push_back(fmt::format("--deny {}: nothing is there now; the rule stays", base::quoted(path.text())));
  HARN_TRY(unprotected, path_arguments(arguments.all("unprotect"), prepared.context));
  for (const auto& path : unprotected) {
    HARN_TRY(real, real_place(path, prepared));
    if (!lifts_something(prepared.policy, real))
      notes.push_back(
          fmt::format("--unprotect {} lifts nothing: no protected name of a writable root is there", base::quoted(path.text())));
  }
  return notes;
}

}  // namespace harn::cli
