// SPDX-License-Identifier: Apache-2.0
#include "harn/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "files/devices.h"
#include "files/git_names.h"
#include "files/replace_at.h"
#include "files/violation.h"
#include "files/walk.h"
#include "harn/scope.h"
#include "sys/remove_tree.h"

namespace harn {
namespace {

using files::Attempt;
using files::Place;

// Between following a path and acting at its end somebody may put a link there. The act fails then and the
// path is followed again; who swaps names all the time gets an error, never what is behind the link.
constexpr int max_tries = 64;

constexpr Attempt reading{"read_text", WorkspaceOp::read_text, FileOp::read};
constexpr Attempt listing{"list", WorkspaceOp::list, FileOp::list};
constexpr Attempt asking{"exists", WorkspaceOp::exists, FileOp::read};
constexpr Attempt writing{"write_text", WorkspaceOp::write_text, FileOp::write};
constexpr Attempt removing{"delete", WorkspaceOp::delete_, FileOp::remove};

bool changed_meanwhile(int error) { return error == ELOOP || error == ENOTDIR || error == ENOENT; }

Error failed(const Attempt& attempt, std::string_view path, int error) {
  return sys::os_failure(attempt.operation, path, error, Stage::prepare);
}

Error wrong_kind(const Attempt& attempt, std::string_view path, std::string_view is) {
  return {.code = ErrorCode::io,
          .stage = Stage::prepare,
          .message = fmt::format("{} {} failed: it is {}", attempt.operation, base::quoted(path), is),
          .hint = {}};
}

Result<std::string> read_to_end(int fd, std::string_view path, std::size_t max_bytes) {
  std::string out;
  std::array<char, 1u << 16> piece;
  for (;;) {
    const auto got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(failed(reading, path, errno));
    if (got == 0) return out;
    if (out.size() + static_cast<std::size_t>(got) > max_bytes)
      return fail(Error{.code = ErrorCode::io,
                        .stage = Stage::prepare,
                        .message = fmt::format("read_text {} failed: it is longer than {} bytes", base::quoted(path), max_bytes),
                        .hint = "read it in pieces with a command, or raise the limit of this call"});
    out.append(piece.data(), static_cast<std::size_t>(got));
  }
}

// For reading, and without waiting for anybody; 0 or an errno.
Result<int> open_file(const Place& place, sys::UniqueFd& out) {
  if (place.type == sys::FileType::missing) return ENOENT;
  out = sys::UniqueFd(
      ::openat(place.directory.get(), std::string(place.name()).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!out) return errno;
  struct stat status = {};
  if (::fstat(out.get(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (!S_ISREG(status.st_mode)) return fail(wrong_kind(reading, place.real.text(), "no regular file"));
  return 0;
}

EntryKind kind_of(sys::FileType type) {
  switch (type) {
    case sys::FileType::file: return EntryKind::file;
    case sys::FileType::directory: return EntryKind::directory;
    case sys::FileType::link: return EntryKind::link;
    default: return EntryKind::other;
  }
}

}  // namespace

struct FileScope::Scope {
  Policy policy = {};
  HostFacts facts = {};
  PathRules rules = {};
  std::shared_ptr<const Policy> around = {};  // the PolicyScope it was made in

  static Result<std::shared_ptr<const Scope>> make(Policy policy, HostFacts facts) {
    auto scope = std::make_shared<Scope>();
    HARN_TRY(inside, within_scope(with_project_root(std::move(policy), facts.project_root)));
    scope->policy = std::move(inside);
    scope->rules = PathRules::for_file_operations(scope->policy, facts);
    scope->facts = std::move(facts);
    scope->around = PolicyScope::current();
    return std::shared_ptr<const Scope>(std::move(scope));
  }

  Decision decide(const AbsPath& real, FileOp op) const {
    if (policy.profile() == Profile::unrestricted) return {.allowed = true};
    return rules.decide(real, op);
  }

  Status admit(const Attempt& attempt, std::string_view asked, const AbsPath& real) const {
    const auto decision = decide(real, attempt.op);
    if (decision.allowed) return {};
    return fail(files::violation(policy, attempt, asked, real, decision));
  }

  // Something closed or protected beneath a path that is about to be replaced or removed with all it holds.
  Status admit_whole(const Attempt& attempt, const AbsPath& real) const {
    if (policy.profile() == Profile::unrestricted) return {};
    const auto closed = std::ranges::find_if(
        rules.rules(), [&](const PathRule& rule) { return rule.access != Access::write && rule.path != real && real.contains(rule.path); });
    if (closed == rules.rules().end()) return {};
    return fail(files::above_protected(attempt, real, closed->path));
  }

  // A root is the operator's choice, not the agent's to take away.
  Status admit_removal(const Place& place) const {
    HARN_OK(admit_git(removing, place));
    const auto& real = place.real;
    const auto& roots = entries(policy.workspace_roots);
    const auto root = std::ranges::find_if(roots, [&](const AbsPath& candidate) { return real.contains(candidate); });
    if (root == roots.end() || policy.profile() == Profile::unrestricted) return {};
    return fail(files::above_protected(removing, real, *root));
  }

  // Repositories are made by commands, whose outcome says so; here nobody would be told. And what git
  // outside trusts in one stays as it is, wherever it lies and whenever it was made.
  Status admit_git(const Attempt& attempt, const Place& place) const {
    if (policy.profile() == Profile::unrestricted || decide(place.real, FileOp::write).origin == Origin::unprotect) return {};
    if (files::is_trusted_by_git(place.real)) return fail(files::makes_repository(attempt, place.real));
    const bool missing = place.type == sys::FileType::missing;
    const bool new_one = missing && std::ranges::find(place.names, ".git") != place.names.end();
    const bool pointer = !missing && place.type != sys::FileType::directory && place.name() == ".git";
    if (!new_one && !pointer) return {};
    return fail(files::makes_repository(attempt, place.real));
  }

  // Where the path ends, admitted. What the walk ran into is told only to who may know about that place.
  Result<Place> admitted_place(const Attempt& attempt, std::string_view path, files::LastLink last = files::LastLink::follow) const {
    HARN_OK(files::check_capability(policy, attempt));
    if (path.empty() || path.find('\0') != std::string_view::npos)
      return fail(Error{.code = ErrorCode::invalid_command,
                        .stage = Stage::prepare,
                        .message = fmt::format("{}: the path {} is no path", attempt.operation, base::quoted(path)),
                        .hint = "name a file"});
    HARN_TRY(place, files::walk(facts.cwd, path, last));
    HARN_OK(admit(attempt, path, place.real));
    if (place.error != 0) return fail(failed(attempt, place.real.text(), place.error));
    return place;
  }

  // Acts where the path ends; `act` answers 0 or an errno.
  template <class Act>
  Status at_end(const Attempt& attempt, std::string_view path, files::LastLink last, Act act) const {
    int error = 0;
    for (int i = 0; i < max_tries; ++i) {
      HARN_TRY(place, admitted_place(attempt, path, last));
      HARN_TRY(result, act(place));
      error = result;
      if (error == 0) return {};
      const bool simply_missing = attempt.op != FileOp::write && place.type == sys::FileType::missing;
      if (!changed_meanwhile(error) || simply_missing) return fail(failed(attempt, place.real.text(), error));
    }
    return fail(failed(attempt, path, error));
  }

  // The directory a new file goes into; the missing ones on the way are made, each admitted by itself.
  Result<int> make_parents(Place& place) const {
    auto here = place.real;
    for (std::size_t i = 0; i < place.names.size(); ++i) here = here.parent();
    for (std::size_t i = 0; i + 1 < place.names.size(); ++i) {
      const auto& name = place.names[i];
      here = here.join(name);
      HARN_OK(admit(writing, here.text(), here));
      if (::mkdirat(place.directory.get(), name.c_str(), S_IRWXU | S_IRWXG | S_IRWXO) != 0 && errno != EEXIST) return errno;
      sys::UniqueFd next(::openat(place.directory.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!next) return errno;
      place.directory = std::move(next);
    }
    return 0;
  }

  Result<int> write_at(Place& place, std::string_view text) const {
    if (place.type == sys::FileType::directory) return EISDIR;
    if (place.type == sys::FileType::missing) HARN_OK(admit_whole(writing, place.real));
    HARN_OK(admit_git(writing, place));
    HARN_TRY(error, make_parents(place));
    if (error != 0) return error;
    const auto name = std::string(place.name());
    if (decide(place.real.parent(), FileOp::write).allowed) return files::replace_at(place.directory.get(), name, text);
    return files::overwrite_at(place.directory.get(), name, text);
  }
};

Result<FileScope> FileScope::open(const Policy& policy, const HostFacts& facts) {
  HARN_OK(validate(policy));
  HARN_TRY(scope, Scope::make(policy, facts));
  return FileScope(std::move(scope));
}

// A PolicyScope entered since then narrows this one for as long as it lasts.
Result<std::shared_ptr<const FileScope::Scope>> FileScope::here() const {
  const auto around = PolicyScope::current();
  if (around == nullptr || around == scope_->around) return scope_;
  return Scope::make(scope_->policy, scope_->facts);
}

Result<std::string> FileScope::read_text(std::string_view path, std::size_t max_bytes) const {
  HARN_TRY(scope, here());
  if (const auto device = files::standard_device(path, FileOp::read)) {
    HARN_OK(files::check_capability(scope->policy, reading));
    if (*device == files::StandardDevice::null) return std::string();
    return read_to_end(static_cast<int>(*device), path, max_bytes);
  }
  sys::UniqueFd fd;
  HARN_OK(scope->at_end(reading, path, files::LastLink::follow, [&](const Place& place) { return open_file(place, fd); }));
  return read_to_end(fd.get(), path, max_bytes);
}

Result<std::vector<FileEntry>> FileScope::list(std::string_view path) const {
  HARN_TRY(scope, here());
  sys::UniqueFd fd;
  HARN_OK(scope->at_end(listing, path, files::LastLink::follow, [&](const Place& place) -> Result<int> {
    if (place.type == sys::FileType::missing) return ENOENT;
    if (place.type != sys::FileType::directory) return fail(wrong_kind(listing, place.real.text(), "no directory"));
    fd = sys::UniqueFd(::openat(place.directory.get(), std::string(place.name()).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return fd ? 0 : errno;
  }));
  HARN_TRY(names, sys::list_entries(fd.get(), max_listed_names));
  std::vector<FileEntry> out;
  out.reserve(names.size());
  for (auto& entry : names) out.push_back({.name = std::move(entry.name), .kind = kind_of(entry.type)});
  return out;
}

Result<bool> FileScope::exists(std::string_view path) const {
  HARN_TRY(scope, here());
  if (files::standard_device(path, FileOp::read)) return true;
  HARN_TRY(place, scope->admitted_place(asking, path));
  return place.type != sys::FileType::missing;
}

Status FileScope::write_text(std::string_view path, std::string_view text) const {
  HARN_TRY(scope, here());
  if (const auto device = files::standard_device(path, FileOp::write)) {
    HARN_OK(files::check_capability(scope->policy, writing));
    if (*device == files::StandardDevice::null) return {};
    const int error = sys::write_all(static_cast<int>(*device), text);
    if (error != 0) return fail(failed(writing, path, error));
    return {};
  }
  return scope->at_end(writing, path, files::LastLink::follow, [&](Place& place) { return scope->write_at(place, text); });
}

Status FileScope::remove(std::string_view path) const {
  HARN_TRY(scope, here());
  return scope->at_end(removing, path, files::LastLink::keep, [&](const Place& place) -> Result<int> {
    if (place.names.empty()) return EBUSY;  // "/"
    if (place.type == sys::FileType::missing) return ENOENT;
    HARN_OK(scope->admit_removal(place));
    const bool directory = place.type == sys::FileType::directory;
    return ::unlinkat(place.directory.get(), std::string(place.name()).c_str(), directory ? AT_REMOVEDIR : 0) == 0 ? 0 : errno;
  });
}

Status FileScope::remove_tree(std::string_view path) const {
  HARN_TRY(scope, here());
  return scope->at_end(removing, path, files::LastLink::keep, [&](const Place& place) -> Result<int> {
    if (place.names.empty()) return EBUSY;
    if (place.type == sys::FileType::missing) return ENOENT;
    HARN_OK(scope->admit_removal(place));
    const auto name = std::string(place.name());
    if (place.type != sys::FileType::directory) return ::unlinkat(place.directory.get(), name.c_str(), 0) == 0 ? 0 : errno;
    HARN_OK(scope->admit_whole(removing, place.real));
    const sys::UniqueFd fd(::openat(place.directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) return errno;
    sys::empty_directory(fd.get());
    return ::unlinkat(place.directory.get(), name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
  });
}

}  // namespace harn
