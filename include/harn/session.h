// SPDX-License-Identifier: Apache-2.0
// Sessions: a sandbox with a life. It is provisioned from a spec, commands are run in it again and again, files
// are attached, it sleeps and wakes, and at the end nothing of it is left. SandboxBackend is the one contract;
// LocalSandbox keeps it with this host's own boundary, ContainerSandbox with a container engine's.
//
//   auto local = LocalSandbox::open({.context = {.environment = env, .cwd = cwd}});
//   auto session = local->provision({});
//   auto result = local->exec(session->id, {.command = "make", .args = {"test"}});
//   local->terminate(session->id);
//
// Sessions outlive the program that provisioned them: any later program of the same user that opens the same
// backend finds them. Calls may come from many threads, and many commands run in one session at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harn/embed.h"
#include "harn/outcome.h"
#include "harn/policy.h"

namespace harn {

inline constexpr std::string_view memory_mount = "/mnt/memory";            // HARN_MEMORY_DIR; read-only
inline constexpr std::string_view outputs_mount = "/mnt/session/outputs";  // HARN_OUTPUTS_DIR; writable

// ---- errors --------------------------------------------------------------------------------------

enum class SandboxErrorKind : std::uint8_t {
  session_not_found,  // `detail` is the id
  unsupported,        // `backend` cannot do `detail`
  invalid_request,    // malformed: an empty command, a relative target, …
  lifecycle,          // provision, suspend, resume or terminate failed
  exec,               // the command could not be run
  network_policy,     // it could not be applied or enforced
  io,
  json,
  task,  // an operation was interrupted
};

struct SandboxError {
  SandboxErrorKind kind = SandboxErrorKind::lifecycle;
  std::string detail = {};
  std::string backend = {};  // with `unsupported`
  std::string hint = {};     // what to do; may be empty
  int os_error = 0;

  bool operator==(const SandboxError&) const = default;
};

std::string describe(const SandboxError& error);  // "sandbox session `x` was not found"
std::string sandbox_error_to_json(const SandboxError& error);

template <class T>
using SandboxResult = std::expected<T, SandboxError>;

// ---- values; JSON as the wire has it ----------------------------------------------------------------

struct SandboxSessionId {
  std::string value = {};

  static SandboxResult<SandboxSessionId> parse(std::string_view text);  // blank ones are refused
  auto operator<=>(const SandboxSessionId&) const = default;
};

struct NetworkPolicy {
  bool unrestricted = false;
  std::vector<std::string> allowed_hosts = {};  // with a limited network; none = no network at all

  bool operator==(const NetworkPolicy&) const = default;
};

enum class FilesystemAccess : std::uint8_t {
  read_only,
  read_write
};

struct FilesystemMount {
  std::string source = {};  // host path; empty = a fresh directory of the session
  std::string target = {};  // absolute path inside
  FilesystemAccess access = FilesystemAccess::read_only;

  bool operator==(const FilesystemMount&) const = default;
};

struct ResourceLimits {
  std::optional<std::chrono::nanoseconds> wall_time = {};  // of any one command
  std::optional<std::uint32_t> cpu_count = {};             // of everybody in the session together, where a cgroup counts;
  std::optional<std::uint32_t> memory_mb = {};             // … else of each command (metadata "limits")
  std::optional<std::chrono::nanoseconds> idle_timeout = {};

  bool operator==(const ResourceLimits&) const = default;
};

struct SandboxSpec {
  std::optional<SandboxSessionId> session_id = {};
  std::map<std::string, std::string> labels = {};
  NetworkPolicy network_policy = {};
  std::vector<FilesystemMount> mounts = {};  // beyond memory and outputs; naming one of those replaces it
  ResourceLimits limits = {};

  bool operator==(const SandboxSpec&) const = default;
};

enum class SandboxState : std::uint8_t {
  provisioned,
  running,
  suspended,
  terminated
};

struct ResolvedMount {
  std::string target = {};
  FilesystemAccess access = FilesystemAccess::read_only;
  std::optional<std::string> host_path = {};

  bool operator==(const ResolvedMount&) const = default;
};

struct SandboxSession {
  SandboxSessionId id = {};
  std::string backend = {};
  SandboxState state = SandboxState::provisioned;
  std::vector<ResolvedMount> mounts = {};
  std::map<std::string, std::string> metadata = {};

  bool operator==(const SandboxSession&) const = default;
};

struct ExecRequest {
  std::string command = {};
  std::vector<std::string> args = {};
  std::optional<std::string> cwd = {};  // inside; relative to the session's root
  std::map<std::string, std::string> env = {};
  std::optional<std::string> input = {};  // wire: stdin
  std::optional<std::chrono::nanoseconds> timeout = {};

  bool operator==(const ExecRequest&) const = default;
};

struct ExecResult {
  std::string out = {};  // wire: stdout
  std::string err = {};  // wire: stderr
  int exit_code = 0;
  bool timed_out = false;

  bool success() const { return exit_code == 0 && !timed_out; }
  bool operator==(const ExecResult&) const = default;
};

struct SandboxSnapshot {
  SandboxSessionId session_id = {};
  std::string backend = {};
  std::string snapshot_id = {};
  std::map<std::string, std::string> metadata = {};

  bool operator==(const SandboxSnapshot&) const = default;
};

struct SandboxCapabilities {
  bool local_process_sandbox = false;
  bool network_policy = false;  // named hosts
  bool snapshot = false;
  bool resume = false;
  bool suspend_on_idle = false;

  bool operator==(const SandboxCapabilities&) const = default;
};

// Input and output that is no UTF-8 travels as {"base64": "…"}.
std::string to_json(const NetworkPolicy& value);
std::string to_json(const SandboxSpec& value);
std::string to_json(const SandboxSession& value);
std::string to_json(const ExecRequest& value);
std::string to_json(const ExecResult& value);
std::string to_json(const SandboxSnapshot& value);
std::string to_json(const SandboxCapabilities& value);
// Members that have a default may be missing; unknown ones and wrong types are `json` errors.
SandboxResult<NetworkPolicy> network_policy_from_json(std::string_view text);
SandboxResult<SandboxSpec> sandbox_spec_from_json(std::string_view text);
SandboxResult<FilesystemMount> filesystem_mount_from_json(std::string_view text);
SandboxResult<SandboxSession> sandbox_session_from_json(std::string_view text);
SandboxResult<ExecRequest> exec_request_from_json(std::string_view text);
SandboxResult<ExecResult> exec_result_from_json(std::string_view text);
SandboxResult<SandboxSnapshot> sandbox_snapshot_from_json(std::string_view text);
SandboxResult<SandboxCapabilities> sandbox_capabilities_from_json(std::string_view text);

// Trimmed, without a trailing slash; absolute, no `..`, not the root.
SandboxResult<std::string> normalized_mount_target(std::string_view target);

// ---- the contract --------------------------------------------------------------------------------

class SandboxBackend {
 public:
  virtual ~SandboxBackend() = default;

  virtual std::string_view name() const = 0;
  virtual SandboxCapabilities capabilities() const = 0;  // as this host was proved to be able

  virtual SandboxResult<SandboxSession> provision(const SandboxSpec& spec) = 0;
  virtual SandboxResult<SandboxSession> attach_filesystem(const SandboxSessionId& id, const FilesystemMount& mount) = 0;
  virtual SandboxResult<SandboxSession> apply_network_policy(const SandboxSessionId& id, const NetworkPolicy& policy) = 0;
  virtual SandboxResult<ExecResult> exec(const SandboxSessionId& id, const ExecRequest& request) = 0;
  virtual SandboxResult<SandboxSnapshot> snapshot(const SandboxSessionId& id) = 0;
  virtual SandboxResult<SandboxSession> resume(const SandboxSessionId& id) = 0;
  virtual SandboxResult<void> terminate(const SandboxSessionId& id) = 0;

  // Beyond the wire contract.
  virtual SandboxResult<SandboxSession> suspend(const SandboxSessionId& id) = 0;
  virtual SandboxResult<SandboxSession> restore(const SandboxSnapshot& snapshot, const SandboxSessionId& into) = 0;
  virtual SandboxResult<SandboxSession> find(const SandboxSessionId& id) = 0;
  virtual SandboxResult<std::vector<SandboxSession>> list() = 0;
};

// ---- this host ---------------------------------------------------------------------------------------

// What a program may want besides the result.
struct ExecExtras {
  OutputSink on_output = {};  // each piece as it comes, on the thread that called
  const Stop* stop = nullptr;
};

// What the backends of this host share: sessions are remembered in the user's state directory, and each backend sees its own.
class HostSandbox : public SandboxBackend {
 public:
  HostSandbox(HostSandbox&&) noexcept;
  HostSandbox& operator=(HostSandbox&&) noexcept;
  ~HostSandbox() override;  // its sessions stay

  std::string_view name() const override;
  SandboxResult<SandboxSession> provision(const SandboxSpec& spec) override;
  SandboxResult<SandboxSession> attach_filesystem(const SandboxSessionId& id, const FilesystemMount& mount) override;
  SandboxResult<SandboxSession> apply_network_policy(const SandboxSessionId& id, const NetworkPolicy& policy) override;
  SandboxResult<ExecResult> exec(const SandboxSessionId& id, const ExecRequest& request) override;
  SandboxResult<SandboxSnapshot> snapshot(const SandboxSessionId& id) override;
  SandboxResult<SandboxSession> resume(const SandboxSessionId& id) override;
  SandboxResult<void> terminate(const SandboxSessionId& id) override;
  SandboxResult<SandboxSession> suspend(const SandboxSessionId& id) override;
  SandboxResult<SandboxSession> restore(const SandboxSnapshot& snapshot, const SandboxSessionId& into) override;
  SandboxResult<SandboxSession> find(const SandboxSessionId& id) override;
  SandboxResult<std::vector<SandboxSession>> list() override;

  // Everything an outcome tells; `exec` is its short form.
  SandboxResult<Outcome> exec_in_full(const SandboxSessionId& id, const ExecRequest& request, const ExecExtras& extras = {});
  SandboxResult<ExecResult> exec(const SandboxSessionId& id, const ExecRequest& request, const ExecExtras& extras);
  // What a killed program, a killed keeper or a reboot left of any backend's sessions: the ids that were cleared away.
  SandboxResult<std::vector<SandboxSessionId>> collect_garbage();

 protected:
  struct Parts;
  explicit HostSandbox(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

struct LocalSandboxConfig {
  Context context = {};                  // whose sessions, and who is told about them
  std::optional<AbsPath> root_dir = {};  // the workspace of every session; unset = a fresh directory each
  Profile sandbox_profile = Profile::os_hardened;
  std::optional<std::chrono::milliseconds> lifetime = {};  // of a session; unset = until it is terminated
};

// Confined by this host's own kernel.
class LocalSandbox final : public HostSandbox {
 public:
  static SandboxResult<LocalSandbox> open(LocalSandboxConfig config);
  SandboxCapabilities capabilities() const override;

 private:
  using HostSandbox::HostSandbox;
};

enum class ContainerEngine : std::uint8_t {
  any,  // HARN_ENGINE, else docker, else podman where that is the only one
  docker,
  podman
};

struct ContainerSandboxConfig {
  Context context = {};
  ContainerEngine engine = ContainerEngine::any;
  std::string image = {};                // must be on this machine already; empty = HARN_IMAGE, else the built-in one
  std::optional<AbsPath> root_dir = {};  // as for LocalSandbox
  Profile sandbox_profile = Profile::os_hardened;
  std::optional<std::chrono::milliseconds> lifetime = {};
};

// Confined by a container engine, one container for each session. What a container cannot do is `unsupported`: mounts and another network
// while it runs, sleep after a time without commands.
class ContainerSandbox final : public HostSandbox {
 public:
  // Tries the engine with the image, once per boot.
  static SandboxResult<ContainerSandbox> open(ContainerSandboxConfig config);
  SandboxCapabilities capabilities() const override;

 private:
  using HostSandbox::HostSandbox;
};

}  // namespace harn
