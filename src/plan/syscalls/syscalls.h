// SPDX-License-Identifier: Apache-2.0
// Layer "seccomp": which system calls a command may make, as names with reasons. The list itself is
// assets/syscalls/groups.toml; this only says which of its groups apply.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harn/plan.h"

namespace harn::plan {

enum class NetworkReach : std::uint8_t {
  none,
  loopback,
  restricted,
  unrestricted
};

// Defaults are the strictest choice, so that a forgotten member never opens anything.
struct SyscallOptions {
  std::string arch = "x86_64";  // uname -m
  NetworkReach network = NetworkReach::none;
  bool private_network = false;     // the command has its own network namespace
  bool unix_full = false;           // named and abstract sockets are limited by the view, or by Landlock ABI 9
  bool unix_datagrams = false;      // … and so are datagrams, message by message
  bool private_ipc = false;         // the command has its own ipc namespace
  bool private_pids = false;        // the command has its own pid namespace
  bool metadata = false;            // chmod, chown, utime, setxattr are allowed (somewhere is writable)
  bool truncation_checked = false;  // a view, Landlock ABI 3 or the supervisor decides truncation
  bool root = false;                // the command runs as uid 0
  bool supervised = false;          // a supervisor answers what changes files, names and metadata
  bool supervised_reads = false;    // … and every other open
  bool supervised_binds = false;    // … names of Unix sockets
  bool supervised_sockets = false;  // … whom Unix sockets reach
  bool supervised_network = false;  // … where TCP and questions to resolvers go
  bool supervised_signals = false;  // … and whom signals do
  bool plain_ioctls = false;        // devices may be opened whose requests nothing else limits
  bool explained = false;           // … looks at what is only asked for, and answers what is refused, to tell of it
};

// Fails with not_supported for an architecture Harn has no numbers for.
Result<SyscallFilter> plan_syscalls(const SyscallOptions& options);

// Those a supervisor only looks at, to explain: allowed by the same filter without it.
std::vector<std::string> calls_looked_at(const SyscallOptions& options);

}  // namespace harn::plan
