// SPDX-License-Identifier: Apache-2.0
// harn trust: lets one project file, exactly as it stands, ask for more than the user's settings.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/harness_file.h"
#include "cli/prepare.h"
#include "cli/trust.h"
#include "cli/verbs.h"
#include "harn/probe.h"
#include "host/resolve_paths.h"
#include "host/user_files.h"

namespace harn::cli {
namespace {

Result<SourceText> project_file(const Arguments& arguments, const Caller& caller) {
  if (!arguments.operands().empty()) {
    HARN_TRY(source, read_source(arguments.operands().front(), path_context(caller)));
    HARN_TRY(real, host::resolve_parent(source.path));
    source.path = std::move(real);
    return source;
  }
  const auto path = find_project_root(caller.cwd).join("harn.toml");
  HARN_TRY(found, read_source_if_present(path));
  if (found) return std::move(*found);
  return wrong_usage(fmt::format("there is no harn.toml in {} or above", base::quoted(caller.cwd.text())),
                     "name the file: harn trust FILE");
}

Result<Policy> project_policy(const SourceText& source, const AbsPath& home) {
  if (!is_harness_file(source.path)) return parse_policy(source, home);
  HARN_TRY(file, parse_harness_file(source, home));
  return std::move(file.policy);
}

// What the user is about to accept, said before it takes effect anywhere. A file that would be refused
// all the same is not accepted.
Result<std::string> widening_text(const SourceText& source, const Caller& caller) {
  const auto project = is_harness_file(source.path) ? source.path.parent().parent() : source.path.parent();
  const auto facts = probe_host({.environment = caller.environment, .cwd = project, .project_root = project});
  HARN_TRY(loaded, load_layers(caller, facts));
  auto& layers = loaded.layers;
  HARN_TRY(policy, project_policy(source, facts.home));
  HARN_TRY(resolved, resolve_policy_paths(std::move(policy)));
  layers.project = std::move(resolved);
  layers.project_digest = trust_digest(source);
  layers.trusted_digests.insert(layers.project_digest);
  if (auto composed = compose_layers(layers); !composed) {
    auto& error = composed.error();
    error.message = fmt::format("trust would not help, {}", error.message);
    return fail(std::move(error));
  }
  std::string out;
  for (const auto& widening : project_widenings(layers))
    out += fmt::format("  {}: {} (you allow: {})\n", widening.member, widening.requested, widening.ceiling);
  return out.empty() ? "  it asks for nothing beyond your settings\n" : out;
}

Status check_has_home(const Caller& caller) {
  if (caller.environment.contains("XDG_STATE_HOME") || home_directory(caller.environment)) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::cli,
                    .message = "there is no home directory to keep the list of trusted files in",
                    .hint = "set HOME or XDG_STATE_HOME"});
}

// The list is lines of text: a name that breaks the line could smuggle in a digest of its own.
Status check_storable(std::string_view path) {
  if (std::ranges::none_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::cli,
                    .message = fmt::format("the path {} contains a control character", base::quoted(path)),
                    .hint = "rename the directory; such a path cannot be trusted"});
}

}  // namespace

Result<Reply> trust_verb(const Arguments& arguments, const Caller& caller) {
  HARN_TRY(trusted, load_trusted(caller));
  if (arguments.has("list")) return Reply{.out = print_trusted(trusted)};

  HARN_OK(check_has_home(caller));
  HARN_TRY(source, project_file(arguments, caller));
  const auto path = source.path.text();
  const auto before = trusted.size();
  std::erase_if(trusted, [&](const TrustedFile& file) { return file.path == path; });
  if (arguments.has("forget")) {
    if (trusted.size() == before) return Reply{.exit_code = exit_no, .out = fmt::format("{} was not trusted\n", path)};
    HARN_OK(host::keep_user_file(trust_file(caller), print_trusted(trusted)));
    return Reply{.out = fmt::format("forgot {}\n", path)};
  }
  HARN_TRY(widenings, widening_text(source, caller));
  HARN_OK(check_storable(path));
  trusted.push_back({trust_digest(source), path});
  std::ranges::sort(trusted);
  HARN_OK(host::keep_user_file(trust_file(caller), print_trusted(trusted)));
  return Reply{.out = fmt::format("trusted {}\n{}", path, widenings)};
}

}  // namespace harn::cli
