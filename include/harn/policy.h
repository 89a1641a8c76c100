// SPDX-License-Identifier: Apache-2.0
// Policy: what a command is allowed to do. A value with ==, JSON and TOML.
//
//   sandbox_profile = "os_hardened"
//   workspace_roots = ["/home/me/project"]
//   [process_sandbox]
//   read_deny_roots = ["/home/me/project/secrets"]
//   [limits]
//   max_memory_mb = 512
//
// The three laws: nothing downgrades silently; unset, empty and everything are three different
// values (std::optional is "unset", an empty list allows nothing); children only narrow. An unset list
// leaves an earlier layer's alone, an empty one takes its place. Lists that only take something away
// (denials, strip, remove, blocked_…) add up over layers, so they have no unset.
//
// Every member is a lattice and intersect() is its meet: idempotent, commutative, associative, and
// the result never allows what either side withholds. decide() is the meaning of the path members:
// the most specific path decides; at equal depth deny beats write beats read; a built-in credential
// denial yields only to its exact path in `credentials`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harn/host.h"
#include "harn/path.h"
#include "harn/result.h"

namespace harn {

// What a list that may be unset holds. Only layering tells unset from empty; both grant nothing.
template <class List>
const List& entries(const std::optional<List>& list) {
  static const List nothing = {};
  return list ? *list : nothing;
}

// The order of enumerators is the strictness ladder: compare with <.
enum class Profile : std::uint8_t {
  unrestricted,
  worktree,
  wasi,
  os_hardened
};

// The order of enumerators is the ladder of what a command may affect: compare with <.
enum class SideEffectLevel : std::uint8_t {
  none,
  read_only,
  workspace_write,
  process_exec,
  network
};

enum class WorkspaceOp : std::uint8_t {
  read_text,
  list,
  exists,
  write_text,
  delete_
};
enum class ProcessOp : std::uint8_t {
  exec
};

// Unset in Policy means all of these; a default-constructed value means none.
struct Capabilities {
  std::set<WorkspaceOp> workspace = {};
  std::set<ProcessOp> process = {};

  static Capabilities all();
  bool operator==(const Capabilities&) const = default;
};

enum class Preset : std::uint8_t {
  system_runtime,
  developer_toolchains,
  package_manager_config,
  user_temp
};

// A Unix socket a child may connect to. Sockets that hand out root (docker.sock and friends) need
// `allow_dangerous` beside the path.
struct UnixSocket {
  AbsPath path = {};
  bool allow_dangerous = false;

  auto operator<=>(const UnixSocket&) const = default;
};

// Process-only: widens what a spawned process may open, never what Harn's own file operations may.
struct ProcessSandbox {
  std::optional<std::set<Preset>> presets = {};  // unset = all four, empty = none
  // Whether the presets count as named by somebody rather than as defaults. Named ones also open the
  // registry tokens of package_manager_config (.netrc, .npmrc, .pypirc, .cargo/credentials*), and are
  // worth rewriting ACLs for on Windows. Unset = exactly when `presets` is given.
  std::optional<bool> package_tokens = {};
  std::optional<std::vector<AbsPath>> read_roots = {};
  std::optional<std::vector<AbsPath>> write_roots = {};
  std::vector<AbsPath> read_deny_roots = {};
  std::optional<std::vector<UnixSocket>> unix_sockets = {};
  std::optional<std::vector<AbsPath>> credentials = {};  // built-in credential paths to expose, by exact path

  bool operator==(const ProcessSandbox&) const = default;
};

enum class NetworkMode : std::uint8_t {
  limited,
  unrestricted
};

// One rule about who may be reached: host, host:port, *.suffix, IP or CIDR; kept in canonical form.
struct HostRule {
  std::string host = {};                   // lower case, no trailing dot; "*.suffix"; IP; or CIDR
  std::optional<std::uint16_t> port = {};  // unset = every port

  auto operator<=>(const HostRule&) const = default;
};

struct Network {
  NetworkMode mode = NetworkMode::limited;
  std::vector<HostRule> allowed_hosts = {};  // only with mode limited
  bool loopback = false;                     // the sandbox's own loopback
  std::set<std::uint16_t> blocked_ports = {};

  bool operator==(const Network&) const = default;
};

// Unset = no limit. Every limit counts the whole process tree.
struct Limits {
  std::optional<std::uint64_t> max_memory_mb = {};
  std::optional<std::uint64_t> max_cpu_seconds = {};
  std::optional<std::uint64_t> max_processes = {};
  std::optional<std::uint64_t> max_file_size_mb = {};
  std::optional<std::uint64_t> max_output_bytes = {};
  std::optional<std::uint64_t> max_open_files = {};
  std::optional<std::uint64_t> cpu_milli = {};  // wire: cpu_count = 1.5
  std::optional<std::chrono::milliseconds> wall_time = {};
  std::optional<std::chrono::milliseconds> idle_timeout = {};

  bool operator==(const Limits&) const = default;
};

enum class EnvMode : std::uint8_t {
  inherit,
  patch,
  replace
};

struct EnvRules {
  std::optional<EnvMode> mode = {};  // unset = inherit
  std::map<std::string, std::string> set = {};
  std::set<std::string> remove = {};
  std::optional<std::set<std::string>> passthrough = {};  // exact names lifted from the secret patterns
  std::set<std::string> strip = {};                       // further names or patterns that never pass

  bool operator==(const EnvRules&) const = default;
};

struct Policy {
  std::optional<Profile> sandbox_profile = {};               // unset = worktree
  std::optional<SideEffectLevel> side_effect_level = {};     // unset = process_exec
  std::optional<Capabilities> capabilities = {};             // unset = all
  std::optional<std::vector<AbsPath>> workspace_roots = {};  // unset = the project root
  std::optional<std::vector<AbsPath>> read_only_roots = {};
  std::optional<std::vector<AbsPath>> unprotect = {};  // protected names made writable again
  ProcessSandbox process_sandbox = {};
  std::optional<Network> network = {};  // unset = limited, no hosts
  Limits limits = {};
  EnvRules env = {};
  std::set<std::string> blocked_commands = {};
  std::optional<std::uint32_t> recursion_limit = {};  // unset = no limit

  bool operator==(const Policy&) const = default;

  // What each unset member means.
  Profile profile() const { return sandbox_profile.value_or(Profile::worktree); }
  SideEffectLevel level() const { return side_effect_level.value_or(SideEffectLevel::process_exec); }
  const Capabilities& effective_capabilities() const;
  const Network& effective_network() const;
  const std::set<Preset>& effective_presets() const;
  bool names_presets() const;
  bool exposes_package_tokens() const;
  bool may_read() const;    // any of workspace read_text, list, exists
  bool may_write() const;   // workspace write_text at level workspace_write or above
  bool may_delete() const;  // workspace delete at level workspace_write or above
  bool may_exec() const;    // process exec at level process_exec or above
};

// Puts the project root in place of unset workspace_roots. Compose only policies that went through
// this: an unresolved project root shares nothing with a named root.
Policy with_project_root(Policy policy, const AbsPath& project_root);

// ---- composition -------------------------------------------------------------------------------

enum class Side : std::uint8_t {
  ceiling,
  requested
};

// One thing intersect() took away. `member` is the wire name ("process_sandbox.read_roots"),
// `value` the text that disappeared or shrank, `became` what is left of it (empty = nothing).
struct NarrowingItem {
  std::string member = {};
  std::string value = {};
  std::string became = {};
  Side lost_by = Side::requested;  // whose grant disappeared; the other side took it away

  auto operator<=>(const NarrowingItem&) const = default;
};
using Narrowing = std::vector<NarrowingItem>;

struct Intersection {
  Policy policy = {};
  Narrowing narrowing = {};
};

Intersection intersect(const Policy& ceiling, const Policy& requested);

// One dimension in which `requested` allows more than `ceiling`.
struct Widening {
  std::string member = {};
  std::string ceiling = {};
  std::string requested = {};

  bool operator==(const Widening&) const = default;
};

// Empty = yes, within.
std::vector<Widening> within(const Policy& ceiling, const Policy& requested);

// The policy handed to a nested run: one less recursion_limit; an error when none is left.
Result<Policy> for_nested_run(Policy policy);

// The one spelling of a meaning: redundant grants dropped, lists sorted, defaults unset.
Policy canonical(Policy policy);

// Cross-member checks that need no file position (hosts below the network level, …).
Status validate(const Policy& policy);

// "policy-" + 24 hex digits of SHA-256 over the canonical JSON. Same meaning, same digest.
std::string digest(const Policy& policy);

// ---- the meaning of the path members ------------------------------------------------------------

// What may be done at a path. `write` includes `read`.
enum class Access : std::uint8_t {
  none,
  read,
  write
};

// What somebody wants to do to a path.
enum class FileOp : std::uint8_t {
  read,
  list,
  execute,
  write,
  remove
};

// Why a path has the access it has.
enum class Origin : std::uint8_t {
  nothing,        // no rule covers the path
  workspace,      // workspace_roots
  read_only,      // read_only_roots
  process_read,   // process_sandbox.read_roots
  process_write,  // process_sandbox.write_roots
  deny,           // process_sandbox.read_deny_roots
  credential,     // built-in credential list
  exposed,        // a credential named in process_sandbox.credentials
  protected_,     // a protected name inside a writable root
  unprotect,      // a protected name made writable by the operator
  preset,         // a named preset
  search_path,    // a PATH entry granted by developer_toolchains
  device,         // standard device files
  git,            // the git directories of a linked worktree
};

// One line of the compiled rule list: holds for the path and everything beneath it until a deeper
// rule. Every backend lowers exactly this list, and decide() reads it.
struct PathRule {
  AbsPath path = {};
  Access access = Access::none;
  Origin origin = Origin::nothing;
  PathKind kind = PathKind::missing;  // what is there now, from the facts
  // Access none, and the file's owner and mode keep this user out already: inside a readable region no
  // mechanism need say it again.
  bool locked = false;

  bool operator==(const PathRule&) const = default;
};

struct Decision {
  bool allowed = false;
  Origin origin = Origin::nothing;
  AbsPath rule = {};  // the deciding rule's path; "/" when nothing covers the path

  bool operator==(const Decision&) const = default;
};

// A policy expanded for one host: presets, credentials, protected names and git directories become
// rules; the nearest rule at or above a path decides.
class PathRules {
 public:
  // What a spawned process may do.
  static PathRules for_processes(const Policy& policy, const HostFacts& facts);
  // What Harn's own file operations may do: never profits from process_sandbox.
  static PathRules for_file_operations(const Policy& policy, const HostFacts& facts);

  // Sorted component-wise: a rule stands before the rules beneath it.
  const std::vector<PathRule>& rules() const { return rules_; }

  // The nearest rule at or above the path; null when none.
  const PathRule* nearest(const AbsPath& path) const;
  Access access(const AbsPath& path) const;
  Decision decide(const AbsPath& path, FileOp op) const;

  // Which of write and remove a writable rule really carries (workspace.write_text, workspace.delete).
  bool writes_allowed() const { return may_write_; }
  bool removes_allowed() const { return may_delete_; }

 private:
  friend class PathRulesBuilder;
  const PathRule* nearest_real(const AbsPath& path) const;

  std::vector<PathRule> rules_ = {};
  std::vector<int> parents_ = {};  // index of the rule above each rule, -1 = none
  bool may_write_ = false;
  bool may_delete_ = false;
  Platform platform_ = Platform::linux;
};

// The one spelling a platform knows a path by: macOS keeps /etc, /tmp and /var under /private.
AbsPath real_spelling(Platform platform, const AbsPath& path);

// The one-call form: the meaning of a policy for a spawned process.
Decision decide(const Policy& policy, const HostFacts& facts, const AbsPath& path, FileOp op);

// Every path whose kind and link target matter to the policy's meaning on a host: what host/ must look at.
// Hundreds of them would stand in the home directory; those known not to exist are left out.
std::vector<AbsPath> paths_of_interest(const Policy& policy, const HostFacts& facts,
                                       const std::function<bool(std::string_view path)>& known_absent = {});

// Directories whose entries help a backend without denials: those between a readable rule and
// something closed beneath it. host/ puts their names into PathFact::entries.
std::vector<AbsPath> directories_to_list(const PathRules& rules);

}  // namespace harn
