// SPDX-License-Identifier: Apache-2.0
// Plan: exactly what an operating system will be told, as data, together with how much of the
// policy that enforces. make_plan() is a pure function: the plan for macOS can be made, printed and
// tested on Linux. A plan round-trips through JSON and prints as the native text of its platform.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "harn/command.h"
#include "harn/host.h"
#include "harn/policy.h"
#include "harn/result.h"

namespace harn {

enum class Backend : std::uint8_t {
  linux,
  bubblewrap,
  firejail,
  docker,
  podman,
  macos,
  windows,
  openbsd,
  noop
};

// ---- coverage ------------------------------------------------------------------------------------

enum class Dimension : std::uint8_t {
  reads,
  writes,
  credential_reads,
  metadata,
  network,
  unix_sockets,
  signals,
  process_inspection,
  devices,
  memory,
  cpu,
  processes,
  file_size,
  wall_time,
  env,
};
inline constexpr std::size_t dimension_count = 15;

enum class Enforcement : std::uint8_t {
  not_requested,
  not_enforced,
  degraded,
  enforced
};

struct DimensionCoverage {
  Enforcement status = Enforcement::not_requested;
  std::vector<std::string> layers = {};  // "view", "landlock", "seccomp", "supervisor", "limits", "sbpl", …
  std::string reason = {};               // why it is not fully enforced; empty when it is

  bool operator==(const DimensionCoverage&) const = default;
};

// One place where the plan enforces less than the policy says. With `paths`, the deviation exists
// only at and beneath those paths; without, the whole dimension deviates.
struct Gap {
  Dimension dimension = Dimension::reads;
  std::string code = {};  // stable word: "nested_read_only", "absent_protected_name", …
  std::vector<AbsPath> paths = {};
  std::string detail = {};  // one sentence for people
  std::string remedy = {};  // what would close it; may be empty

  bool operator==(const Gap&) const = default;
};

struct Coverage {
  std::array<DimensionCoverage, dimension_count> dimensions = {};
  std::vector<Gap> gaps = {};

  DimensionCoverage& operator[](Dimension d) { return dimensions[static_cast<std::size_t>(d)]; }
  const DimensionCoverage& operator[](Dimension d) const { return dimensions[static_cast<std::size_t>(d)]; }
  bool operator==(const Coverage&) const = default;
};

// ---- confinement, one kind per family of mechanisms ----------------------------------------------

struct NoConfinement {
  bool operator==(const NoConfinement&) const = default;
};

enum class MountOp : std::uint8_t {
  tmpfs,      // fresh private file system at target
  bind,       // source writable at target
  bind_read,  // source read-only at target, with everything mounted beneath it
  hide,       // nothing readable at target: an empty unreadable directory or file over it
  proc,       // own /proc
  dev,        // minimal /dev with private pts and shm
  symlink,    // target is a link with text `source`
  directory,  // an empty directory inside the view
  overlay,    // source at target; what is written goes to `layer` instead
};

struct MountStep {
  MountOp op = MountOp::tmpfs;
  std::string source = {};  // host path, or the link text
  AbsPath target = {};
  bool file = false;       // the source is not a directory
  std::string layer = {};  // of an overlay: a directory with "upper" and "work" in it
  std::string note = {};   // why: "workspace", "preset system_runtime", …

  bool operator==(const MountStep&) const = default;
};

// Layer "view": namespaces and the mounts inside, in order; later steps cover earlier ones.
struct View {
  std::vector<std::string> namespaces = {};  // "user" "mount" "pid" "ipc" "uts" "net" "cgroup"
  std::vector<MountStep> mounts = {};
  std::map<std::string, std::string> files = {};  // texts shown over what the host has at a path, if it has anything
  bool loopback_up = false;

  bool operator==(const View&) const = default;
};

struct LandlockRule {
  AbsPath path = {};
  std::vector<std::string> access = {};  // kernel names, lower case: "execute" "read_file" …
  std::string note = {};

  bool operator==(const LandlockRule&) const = default;
};

struct LandlockPortRule {
  std::uint16_t port = 0;
  std::vector<std::string> access = {};  // "bind_tcp" "connect_tcp"

  bool operator==(const LandlockPortRule&) const = default;
};

struct LandlockPlan {
  int abi = 0;
  std::vector<std::string> handled_fs = {};
  std::vector<std::string> handled_net = {};
  std::vector<std::string> scoped = {};  // "abstract_unix_socket" "signal"
  std::vector<LandlockRule> rules = {};
  std::vector<LandlockPortRule> ports = {};

  bool operator==(const LandlockPlan&) const = default;
};

// One condition on a syscall argument: (arg & mask) op value.
enum class Compare : std::uint8_t {
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal
};
struct ArgumentTest {
  unsigned index = 0;
  std::uint64_t mask = ~std::uint64_t{0};
  Compare compare = Compare::equal;
  std::uint64_t value = 0;

  bool operator==(const ArgumentTest&) const = default;
};

enum class SyscallAction : std::uint8_t {
  allow,
  errno_,
  kill,
  notify
};

// Rules of one filter are tried in order per syscall; the first whose tests all hold decides.
struct SyscallRule {
  std::vector<std::string> names = {};
  std::vector<ArgumentTest> when = {};
  SyscallAction action = SyscallAction::allow;
  int error = 0;            // with errno_
  std::string reason = {};  // why this group exists

  bool operator==(const SyscallRule&) const = default;
};

struct SyscallFilter {
  std::string arch = {};  // "x86_64" "aarch64"; any other architecture is killed
  SyscallAction otherwise = SyscallAction::errno_;
  int otherwise_error = 1;  // EPERM
  std::vector<SyscallRule> rules = {};

  bool operator==(const SyscallFilter&) const = default;
};

// What one path may be used for, as the supervisor decides it: the nearest at or above a path counts.
struct SupervisedPath {
  AbsPath path = {};
  Access access = Access::none;
  bool device = false;  // writing to it changes no file, and nothing else of it may be changed

  bool operator==(const SupervisedPath&) const = default;
};

// Layer "supervisor", where there is no view: a process of ours answers the calls the filter marks
// `notify`, and makes them on behalf of the command where the rules allow it. Where refusals are to be
// explained it is there in any case; with a view it decides nothing.
struct SupervisorPlan {
  std::vector<SupervisedPath> rules = {};  // sorted; where it decides nothing, what the view hides
  bool reads = false;                      // it decides about reading too; where it explains, it sees every open in any case
  bool decides = true;                     // false: it makes every call, and the other layers decide
  bool explains = false;                   // it tells what was refused
  bool records = false;                    // … and what was not
  bool asks = false;                       // … and a file or socket that is refused waits for an answer of the launcher
  std::vector<AbsPath> sockets = {};       // it connects to these for the command, and to those the command bound itself
  bool abstract_names = false;             // … and to abstract names, of which the kernel shows only the command's own
  std::vector<std::string> looks_at = {};  // calls it only looks at and lets go on; the filter alone would allow them

  bool operator==(const SupervisorPlan&) const = default;
};

struct LinuxConfinement {
  std::optional<View> view = {};
  std::optional<LandlockPlan> landlock = {};
  std::optional<SyscallFilter> syscalls = {};
  std::optional<SupervisorPlan> supervisor = {};
  bool no_new_privileges = true;
  bool drop_capabilities = true;

  bool operator==(const LinuxConfinement&) const = default;
};

// A file the wrapper needs, handed over as a descriptor or written to a private place.
struct WrapperFile {
  std::string name = {};  // "seccomp.bpf" "seccomp.json" "profile.sb"
  std::string text = {};

  bool operator==(const WrapperFile&) const = default;
};

// Confinement by another program: argv plus files. bubblewrap, firejail, docker, podman, Seatbelt.
// A word "@file:NAME" in argv stands for the descriptor or path of that file at run time, "@status" for
// a descriptor on which the program says that the command ended; without that word it never ran.
// "@dir:NAME" is a private directory, "@run:NAME" something only known when the command runs.
struct Wrapper {
  std::vector<std::string> argv = {};  // complete, the command's own words included
  std::vector<WrapperFile> files = {};
  std::optional<SyscallFilter> syscalls = {};  // the filter behind "@file:seccomp.bpf"
  std::string profile = {};                    // native profile text (SBPL); empty elsewhere
  // Of the program itself where it is the client of an engine; the command's variables are added for it
  // to hand on.
  std::map<std::string, std::string> environment = {};

  bool operator==(const Wrapper&) const = default;
};

struct AclGrant {
  AbsPath path = {};
  bool modify = false;             // false = read and execute
  bool inherit = true;             // (OI)(CI); false for a file
  bool stops_inheritance = false;  // no grant: cuts off what parents would hand down
  std::string note = {};

  bool operator==(const AclGrant&) const = default;
};

struct AppContainer {
  std::string name = {};                          // stem; the applier adds pid and counter
  std::vector<std::string> capability_sids = {};  // "internetClient" …
  std::vector<AclGrant> grants = {};
  std::map<std::string, std::string> environment = {};   // LOCALAPPDATA, TEMP, TMP inside the container folder
  std::map<std::string, std::uint64_t> job_limits = {};  // "active_process" "process_memory" …
  std::vector<std::string> job_flags = {};               // "kill_on_job_close" "die_on_unhandled_exception"
  std::vector<std::string> ui_limits = {};

  bool operator==(const AppContainer&) const = default;
};

struct Unveil {
  AbsPath path = {};
  std::string permissions = {};  // of r w x c; empty hides

  bool operator==(const Unveil&) const = default;
};

struct PledgeUnveil {
  std::vector<Unveil> unveils = {};
  std::vector<std::string> promises = {};
  std::vector<std::string> exec_promises = {};

  bool operator==(const PledgeUnveil&) const = default;
};

using Confinement = std::variant<NoConfinement, LinuxConfinement, Wrapper, AppContainer, PledgeUnveil>;

// ---- limits as mechanisms --------------------------------------------------------------------------

struct ResourceLimit {
  std::string name = {};  // "cpu" "fsize" "nofile" "core" "nproc"
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;

  bool operator==(const ResourceLimit&) const = default;
};

struct LimitPlan {
  std::vector<ResourceLimit> rlimits = {};
  std::map<std::string, std::string> cgroup = {};     // "memory.max" → "536870912"; v1 names on v1
  std::map<std::string, std::uint64_t> watched = {};  // totals the supervisor compares: "memory_bytes" "cpu_seconds" "processes"
  std::optional<std::uint64_t> wall_time_ms = {};
  std::optional<std::uint64_t> idle_timeout_ms = {};
  std::optional<std::uint64_t> max_output_bytes = {};

  bool operator==(const LimitPlan&) const = default;
};

// ---- environment ---------------------------------------------------------------------------------

struct RemovedVariable {
  std::string name = {};
  std::string why = {};  // "always stripped" "secret pattern *_TOKEN" "loader variable" "removed by policy"

  auto operator<=>(const RemovedVariable&) const = default;
};

struct EnvPlan {
  std::map<std::string, std::string> variables = {};
  std::vector<RemovedVariable> removed = {};

  bool operator==(const EnvPlan&) const = default;
};

// ---- egress (who may be reached), carried for restricted networking ----------------------------------

struct EgressPlan {
  std::vector<HostRule> allow = {};
  std::vector<HostRule> deny = {};  // before allow
  std::vector<std::uint16_t> blocked_ports = {};
  bool block_private = true;                // addresses that are not public need a rule that names them
  bool allow_loopback = false;              // the host's own loopback needs none
  std::vector<std::uint16_t> ports = {};    // where connections are accepted inside
  std::vector<std::uint16_t> publish = {};  // ports of the sandbox that the host's loopback shows
  std::uint16_t relay_port = 3128;          // where programs that honour proxy variables find the relay
  bool asks = false;                        // a host no rule admits waits for an answer of the launcher
  bool supervised = false;                  // on the host's network: the supervisor leads every connection to the relay

  bool operator==(const EgressPlan&) const = default;
};

// ---- a WebAssembly module and its runtime --------------------------------------------------------------

// A directory the module may use, as its runtime is told. What is not writable, or closed inside, the sandbox around the runtime holds.
struct Preopen {
  std::string guest = {};
  AbsPath host = {};
  bool writable = false;

  bool operator==(const Preopen&) const = default;
};

// With route `wasi`: Plan::argv starts the runtime, inside the confinement like any other command.
struct WasiPlan {
  std::string runtime = {};  // "wasmtime" "wasmedge" "wasmer" "iwasm" "node"
  AbsPath module = {};
  std::vector<std::string> argv = {};  // as it was asked for
  std::vector<Preopen> preopens = {};

  bool operator==(const WasiPlan&) const = default;
};

// ---- the plan ------------------------------------------------------------------------------------

enum class Route : std::uint8_t {
  direct,
  confined,
  wasi,
  refused
};
enum class Fallback : std::uint8_t {
  off,
  warn,
  enforce
};  // HARN_HANDLER_SANDBOX, worktree only

struct TriedBackend {
  Backend backend = Backend::noop;
  std::string why_not = {};

  bool operator==(const TriedBackend&) const = default;
};

// Why a plan may not run. Typed, so that embedders can word it themselves.
struct Refusal {
  std::string mechanism = {};     // backend name or "none"
  std::string availability = {};  // "absent_on_host" | "does_not_confine" | "cannot_express"
  Profile profile = Profile::worktree;
  std::string requirement = {};  // "profile" | "fallback" | "ceiling" | "policy"
  std::vector<Dimension> dimensions = {};
  std::vector<TriedBackend> tried = {};
  std::string message = {};
  std::string hint = {};

  bool operator==(const Refusal&) const = default;
};

struct Plan {
  Route route = Route::confined;
  Backend backend = Backend::noop;
  Profile profile = Profile::worktree;
  std::string host = {};  // name of the facts
  std::string policy_digest = {};
  std::vector<std::string> argv = {};  // the command itself, after platform rewrites (SwiftPM)
  AbsPath cwd = {};
  EnvPlan env = {};
  LimitPlan limits = {};
  Confinement confinement = {};
  std::optional<EgressPlan> egress = {};
  std::optional<WasiPlan> wasi = {};
  std::optional<AbsPath> scratch = {};  // .harn-tmp in the workspace, where no private /tmp exists
  Coverage coverage = {};
  std::vector<std::string> notes = {};
  std::vector<TriedBackend> tried = {};  // backends passed over by "auto", and why
  std::optional<Refusal> refusal = {};   // set exactly when route is refused

  bool operator==(const Plan&) const = default;
};

// What the operator says about the network besides the policy. It only narrows, except for the host's own
// private networks and loopback.
struct EgressChoices {
  std::vector<HostRule> deny = {};
  bool block_private = true;
  bool allow_loopback = false;
  std::vector<std::uint16_t> publish = {};
  // Ports somebody named beside a rule that admits them all: programs find them open as well.
  std::set<std::uint16_t> ports = {};

  bool operator==(const EgressChoices&) const = default;
};

// A place of the host shown at another path inside. The policy grants the source.
struct GuestMount {
  AbsPath source = {};
  AbsPath target = {};
  bool writable = false;
  bool file = false;  // the source is no directory

  bool operator==(const GuestMount&) const = default;
};

struct PlanOptions {
  std::optional<Backend> backend = {};  // unset = auto
  Fallback fallback = Fallback::warn;
  bool no_sandbox = false;  // the operator said so; recorded
  // What the system's ceiling demands: nothing runs under a weaker profile, and nothing unconfined under one that confines.
  std::optional<Profile> least_profile = {};
  EgressChoices egress = {};
  // Changes of the workspace go here instead, to be looked at and applied later (src/workspace).
  std::optional<AbsPath> overlay = {};
  bool overlay_all = false;       // … and what is written to any other directory as well
  bool explain = false;           // what is refused is told with the rule and what would allow it (native Linux)
  bool record = false;            // with explain: what worked is told too (Refused::worked)
  std::string wasi_runtime = {};  // the operator\'s; empty = the first that works
  std::vector<GuestMount> guests = {};
  bool ask = false;  // with explain: files and sockets that are refused wait for an answer (RunOptions::on_question)
  // Hosts may be named while commands run (a session): where the network is not the host's, it is one of its own from the beginning.
  bool hosts_later = false;
};

// Fails only for a wrong policy or command; a plan that may not run has route `refused`.
Result<Plan> make_plan(const Policy& policy, const Command& command, const HostFacts& facts, const PlanOptions& options = {});
// For callers that hold PathRules::for_processes(policy, facts) already; the policy names its workspace.
Result<Plan> make_plan(const Policy& policy, const Command& command, const HostFacts& facts, const PlanOptions& options,
                       const PathRules& rules);

// HARN_HANDLER_SANDBOX: unset or empty = warn; anything but off, warn, enforce is an error.
Result<Fallback> parse_fallback(std::optional<std::string_view> text);

std::string digest(const Plan& plan);  // "plan-" + 24 hex digits
std::string plan_to_json(const Plan& plan, int indent = 2);
Result<Plan> plan_from_json(std::string_view text);
std::string native_text(const Plan& plan);    // SBPL, argv one word per line, unveil list, …
std::string native_suffix(const Plan& plan);  // "sb" "argv" "unveil" "acl" "linux" "txt"

std::string facts_to_json(const HostFacts& facts, int indent = 2);
Result<HostFacts> facts_from_json(std::string_view text);

}  // namespace harn
