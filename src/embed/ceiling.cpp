// SPDX-License-Identifier: Apache-2.0
#include "embed/ceiling.h"

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/text.h"
#include "embed/places.h"
#include "harn/policy_text.h"
#include "harn/probe.h"
#include "host/user_files.h"

namespace harn::embed {
namespace {

constexpr uid_t overflow = 65534;  // how root's files look from inside a user namespace

Status check_roots_alone(const AbsPath& path) {
  struct stat status = {};
  if (::stat(path.text().c_str(), &status) != 0) return {};  // reading it will tell
  const bool root = status.st_uid == 0 || status.st_uid == overflow;
  if (root && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::load,
                    .message = fmt::format("{} can be changed by others than root, so it bounds nothing", base::quoted(path.text())),
                    .hint = fmt::format("as root: chown root {0} && chmod go-w {0}", base::shell_word(path.text()))});
}

}  // namespace

Result<std::optional<Policy>> system_ceiling(const AbsPath& home) {
  const auto file = ceiling_file();
  HARN_TRY(text, host::read_user_file_if_present(file, max_policy_bytes));
  if (!text) return std::optional<Policy>();
  HARN_OK(check_roots_alone(file.parent()));
  HARN_OK(check_roots_alone(file));
  HARN_TRY(policy, parse_policy_toml(*text, {.home = home, .file_name = file.text()}));
  HARN_TRY(resolved, resolve_policy_paths(std::move(policy)));
  return std::optional<Policy>(std::move(resolved));
}

}  // namespace harn::embed
