// SPDX-License-Identifier: Apache-2.0
#include "session/mounts.h"

#include <errno.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/presets.h"
#include "session/errors.h"
#include "sys/files.h"

namespace harn {
namespace session {
namespace {

constexpr std::array closed_targets{"/bin",    "/boot", "/dev", "/etc",  "/lib", "/lib32", "/lib64",
                                    "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr"};
constexpr std::array closed_as_a_whole{"/home", "/mnt", "/opt", "/root", "/tmp", "/var", "/var/tmp"};
// The kernel's and the daemons': whoever holds a part of these holds more than files.
constexpr std::array closed_sources{"/boot", "/dev", "/proc", "/run", "/sys", "/var/run"};
constexpr std::array read_only_sources{"/bin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr"};

bool is_beneath(const AbsPath& path, const auto& roots) {
  return std::ranges::any_of(roots, [&](const char* root) { return AbsPath::of(root).contains(path); });
}
bool is_one_of(const AbsPath& path, const auto& roots) {
  return std::ranges::any_of(roots, [&](const char* root) { return path.text() == root; });
}
bool overlap(const AbsPath& a, const AbsPath& b) { return a.contains(b) || b.contains(a); }

SandboxResult<AbsPath> check_target(std::string_view text, const std::vector<Shown>& others, const MountGround& ground) {
  HARN_SESSION_TAKE(normal, normalized_mount_target(text));
  HARN_SESSION_TRY(target, AbsPath::parse(normal), invalid_request);
  const auto refuse = [&](std::string_view why) {
    return fail_with(Kind::invalid_request, fmt::format("mount target {} {}", base::quoted(target.text()), why),
                     "choose a path of its own, such as one beneath /mnt");
  };
  if (is_beneath(target, closed_targets) || is_one_of(target, closed_as_a_whole) || target.contains(ground.facts.home))
    return refuse("would cover a system directory");
  for (const auto& other : others) {
    if (other.target == target) return refuse("is used twice");
    if (overlap(other.target, target)) return refuse("overlaps the mount at " + other.target.text());
  }
  return target;
}

SandboxResult<void> check_source(const AbsPath& source, bool writable, const MountGround& ground) {
  const auto refuse = [&](std::string_view why) {
    return fail_with(Kind::invalid_request, fmt::format("mount source {} {}", base::quoted(source.text()), why),
                     "mount a directory that holds nothing but what the session needs");
  };
  if (source.is_root() || is_beneath(source, closed_sources)) return refuse("belongs to the system");
  if (is_one_of(source, closed_as_a_whole) || is_one_of(source, read_only_sources)) return refuse("is a system directory");
  if (writable && is_beneath(source, read_only_sources)) return refuse("belongs to the system and cannot be mounted writable");
  if (source.contains(ground.facts.home)) return refuse("holds the whole home directory");
  if (ground.facts.account_home && source.contains(*ground.facts.account_home)) return refuse("holds the whole home directory");
  if (overlap(source, ground.own_state) || overlap(source, ground.places.records)) return refuse("holds what Harn itself remembers");
  if (source.contains(ground.places.files)) return refuse("holds the files of every session");
  for (const auto& credential : policy::credential_paths(ground.facts)) {
    if (credential.path.contains(source)) return refuse("is a credential");
    if (source.contains(credential.path) && sys::type_of(credential.path) != sys::FileType::missing)
      return refuse("holds the credential " + base::quoted(credential.path.text()));
  }
  return {};
}

// The directory of a fresh mount is named after its target, so that people find it.
SandboxResult<AbsPath> fresh_directory(const AbsPath& target, const std::string& id, const Places& places) {
  std::string name = target.text().substr(1);
  std::ranges::replace(name, '/', '-');
  auto place = files_of(places, id).join("mounts").join(name);
  HARN_SESSION_OK(sys::make_directories(place), io);
  HARN_SESSION_TRY(real, sys::real_path(place), io);
  return real;
}

}  // namespace

SandboxResult<Shown> resolve_mount(const FilesystemMount& mount, const std::string& id, const std::vector<Shown>& others,
                                   const MountGround& ground) {
  HARN_SESSION_TAKE(target, check_target(mount.target, others, ground));
  if (mount.source.empty()) {
    HARN_SESSION_TAKE(place, fresh_directory(target, id, ground.places));
    return Shown{.target = std::move(target), .source = std::move(place), .access = mount.access, .own = true};
  }
  auto named = AbsPath::parse(mount.source);
  if (!named)
    return fail_with(Kind::invalid_request, fmt::format("mount source {} must be absolute", base::quoted(mount.source)),
                     "name it from / on");
  auto real = sys::real_path(*named);
  if (!real && real.error().os_error == ENOENT)
    return fail_with(Kind::invalid_request, fmt::format("mount source {} does not exist", base::quoted(mount.source)), "create it first",
                     ENOENT);
  if (!real) return std::unexpected(from(std::move(real).error(), Kind::io));
  const auto type = sys::type_of(*real);
  if (type != sys::FileType::directory && type != sys::FileType::file)
    return fail_with(Kind::invalid_request, fmt::format("mount source {} is neither a directory nor a file", base::quoted(mount.source)));
  HARN_SESSION_PASS(check_source(*real, mount.access == FilesystemAccess::read_write, ground));
  return Shown{.target = std::move(target), .source = std::move(*real), .access = mount.access};
}

void grant(const std::vector<Shown>& mounts, Policy& policy) {
  for (const auto& shown : mounts) {
    auto& roots = shown.access == FilesystemAccess::read_write ? policy.workspace_roots : policy.read_only_roots;
    if (!roots) roots.emplace();
    if (std::ranges::find(*roots, shown.source) == roots->end()) roots->push_back(shown.source);
  }
}

std::vector<GuestMount> guests_of(const std::vector<Shown>& mounts) {
  std::vector<GuestMount> out;
  for (const auto& shown : mounts)
    out.push_back({.source = shown.source,
                   .target = shown.target,
                   .writable = shown.access == FilesystemAccess::read_write,
                   .file = sys::type_of(shown.source) != sys::FileType::directory});
  return out;
}

void name_mounts(const std::vector<Shown>& mounts, bool guest_paths, Policy& policy) {
  for (const auto& shown : mounts) {
    const auto text = guest_paths ? shown.target.text() : shown.source.text();
    if (shown.target.text() == memory_mount) policy.env.set["HARN_MEMORY_DIR"] = text;
    if (shown.target.text() == outputs_mount) policy.env.set["HARN_OUTPUTS_DIR"] = text;
  }
}

}  // namespace session

SandboxResult<SandboxSessionId> SandboxSessionId::parse(std::string_view text) {
  if (base::trim(text).empty()) return session::fail_with(SandboxErrorKind::invalid_request, "session id cannot be empty");
  return SandboxSessionId{std::string(text)};
}

SandboxResult<std::string> normalized_mount_target(std::string_view target) {
  auto trimmed = base::trim(target);
  while (trimmed.ends_with('/')) trimmed.remove_suffix(1);
  if (!trimmed.starts_with('/'))
    return session::fail_with(SandboxErrorKind::invalid_request, fmt::format("mount target `{}` must be absolute", base::one_line(target)));
  for (const auto part : base::split(trimmed, '/'))
    if (part == "..")
      return session::fail_with(SandboxErrorKind::invalid_request,
                                fmt::format("mount target `{}` must not contain a `..` component", base::one_line(target)));
  return std::string(trimmed);
}

}  // namespace harn
