// SPDX-License-Identifier: Apache-2.0
// HostFacts: what one machine can do and what its file system looks like, as a value. Plans are
// made from facts, never from the machine, so any host can print the plan of any other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harn/path.h"

namespace harn {

enum class Platform : std::uint8_t {
  linux,
  macos,
  windows,
  openbsd
};

enum class CgroupKind : std::uint8_t {
  none,
  v1,
  v2
};

enum class PathKind : std::uint8_t {
  missing,
  directory,
  file,
  device,
  socket,
  other
};

struct PathFact {
  PathKind kind = PathKind::missing;                     // of the final target
  std::optional<AbsPath> link_target = {};               // set when the path itself is a symbolic link: fully resolved
  std::optional<std::vector<std::string>> entries = {};  // names inside a directory, where somebody looked
  bool datagram = false;                                 // a socket that takes single messages, where somebody tried
  bool locked = false;                                   // another's, and closed to this user by its mode

  bool operator==(const PathFact&) const = default;
};

using PathFacts = std::map<std::string, PathFact, std::less<>>;  // by AbsPath text

// A program a backend needs, found and tried.
struct Tool {
  AbsPath path = {};
  std::string version = {};
  bool works = false;  // proved by confining a child with it
  std::string why_not = {};
  std::optional<bool> limits = {};  // container engines: whether what they limit was seen to be limited
  bool counts_cpu = false;          // … and whether processor time of everybody inside can be read there
  bool pauses = false;              // … and whether a running one was stopped and woken

  bool operator==(const Tool&) const = default;
};

// The repository of a linked worktree, opened for it; or one inside a root, only guarded: git_dir is common_dir.
struct GitLayout {
  AbsPath work_tree = {};
  AbsPath git_dir = {};
  AbsPath common_dir = {};
  std::vector<AbsPath> alternates = {};  // other object stores it names; they open nothing

  bool operator==(const GitLayout&) const = default;
};

struct LinuxFacts {
  std::string kernel = {};      // "6.12.3"
  std::string arch = "x86_64";  // uname -m
  int landlock_abi = 0;         // 0 = none
  bool seccomp = false;
  bool seccomp_notify = false;
  bool pidfd_getfd = false;      // a supervisor may copy descriptors of those it answers for
  bool user_namespaces = false;  // usable by this user, with mounts inside
  bool pid_namespaces = false;
  bool network_namespaces = false;
  CgroupKind cgroup = CgroupKind::none;  // with memory and pids controllers we may use
  std::string why_no_user_namespaces = {};

  bool operator==(const LinuxFacts&) const = default;
};

struct HostFacts {
  std::string name = {};  // "this host", "macos-14"
  Platform platform = Platform::linux;
  std::string os_version = {};
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  AbsPath home = {};
  std::optional<AbsPath> account_home = {};  // of the account, where HOME says otherwise: secrets live there too
  AbsPath temp = {};
  AbsPath cwd = {};
  AbsPath project_root = {};
  std::vector<AbsPath> search_path = {};  // PATH, absolute entries only
  LinuxFacts linux = {};
  std::map<std::string, Tool> tools = {};  // "bubblewrap" "firejail" "docker" "podman" "sandbox-exec"
  PathFacts paths = {};
  PathKind unlisted = PathKind::missing;  // what a path not in `paths` is taken to be
  std::vector<GitLayout> git = {};
  std::vector<AbsPath> guarded = {};  // read-only whoever may write around them: what git outside follows besides

  bool operator==(const HostFacts&) const = default;

  PathKind kind_of(const AbsPath& path) const;
  bool exists(const AbsPath& path) const { return kind_of(path) != PathKind::missing; }
};

}  // namespace harn
