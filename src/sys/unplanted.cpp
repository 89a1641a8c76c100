// SPDX-License-Identifier: Apache-2.0
#include "sys/unplanted.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "sys/files.h"

namespace harn::sys {
namespace {

constexpr int most_links = 40;  // as many as a kernel follows

// No command could have made a link in there.
bool is_systems(const struct stat& directory, const AbsPath& path) {
  if (path.is_root()) return true;
  return ::geteuid() != 0 && directory.st_uid == 0 && (directory.st_mode & 022) == 0;
}

std::unexpected<Error> planted(const AbsPath& link, const AbsPath& file, std::string_view what) {
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::prepare,
                    .os_error = ELOOP,
                    .message = fmt::format("the {} {} would be reached through {}: a link leads there, and commands may have made it", what,
                                           base::quoted(file.text()), base::quoted(link.text())),
                    .hint = "name the place itself"});
}

}  // namespace

Result<UnplantedParent> hold_unplanted_parent(const AbsPath& file, std::string_view what) {
  UnplantedParent at;
  const auto begin = [&]() -> Status {
    HARN_TRY(root, hold_directory({}));
    at = {.directory = std::move(root)};
    return {};
  };
  HARN_OK(begin());
  std::vector<std::string> names;  // still to go, the next one last
  const auto go_on = [&](std::string_view text) {
    const auto parts = base::split(text, '/');
    names.insert(names.end(), parts.rbegin(), parts.rend());
  };
  go_on(file.parent().text());
  for (int links = 0; !names.empty();) {
    const auto name = std::move(names.back());
    names.pop_back();
    if (name.empty() || name == ".") continue;
    if (name == "..") {  // only links of the system have it, and their way is walked again
      go_on(at.path.parent().text());
      HARN_OK(begin());
      continue;
    }
    const auto next = at.path.join(name);
    auto held = hold_directory_in(at.directory.get(), name);
    if (held) {
      at = {.directory = std::move(held), .path = next};
      continue;
    }
    const int problem = errno;
    auto text = link_text(at.directory.get(), name);
    if (!text) return fail(os_failure("open", next.text(), problem, Stage::prepare));
    struct stat directory = {};
    if (::fstat(at.directory.get(), &directory) != 0) return fail(os_failure("fstat", at.path.text(), errno, Stage::prepare));
    if (!is_systems(directory, at.path)) return planted(next, file, what);
    if (++links > most_links) return fail(os_failure("open", file.text(), ELOOP, Stage::prepare));
    go_on(*text);
    if (text->starts_with('/')) HARN_OK(begin());
  }
  return at;
}

}  // namespace harn::sys
