// SPDX-License-Identifier: Apache-2.0
// The executor of Harness: shell commands under one SandboxPolicy, in mode none, process or docker.
//
//   HARN_TRY(executor, harness::create_executor({.resource_limits = {.max_memory_mb = 64}}, context));
//   auto result = executor.execute("make test", {.timeout = 60s});
//   if (result.outcome.oom_killed) …
//
// Every mode checks blocked commands and withholds secrets from the environment. The modes process and docker confine as `harn
// run` does, with the same code; mode none confines nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harn/embed.h"

namespace harn::harness {

enum class SandboxMode : std::uint8_t {
  none,
  process,
  docker
};

// All of them count the whole tree of a command.
struct ResourceLimits {
  std::uint64_t max_memory_mb = 512;
  std::uint64_t max_cpu_seconds = 30;
  std::uint64_t max_processes = 64;
  std::uint64_t max_file_size_mb = 100;

  bool operator==(const ResourceLimits&) const = default;
};

struct NetworkPolicy {
  bool allow_network = false;
  std::optional<std::vector<std::string>> allowed_hosts = {};  // unset = every host, empty = none; only with allow_network
  std::vector<std::uint16_t> blocked_ports = {};

  bool operator==(const NetworkPolicy&) const = default;
};

inline constexpr std::string_view default_image = "python:3.12-slim";

struct SandboxPolicy {
  SandboxMode mode = SandboxMode::process;
  // Unset = the project, which is the nearest directory with a harn.toml, else the working directory; where
  // that would open the home directory, an empty directory that goes with the executor. Empty = nothing.
  std::optional<std::vector<std::string>> allowed_paths = {};
  std::vector<std::string> blocked_commands = {};
  ResourceLimits resource_limits = {};
  NetworkPolicy network = {};
  std::string docker_image = std::string(default_image);
  std::vector<std::string> env_passthrough = {};
  std::vector<std::string> strip_env = {};  // beyond the five names and the patterns that are always withheld

  bool operator==(const SandboxPolicy&) const = default;
};

// The table [sandbox] of .harness/config.toml.
struct SandboxConfig {
  bool enabled = false;
  SandboxPolicy policy = {};
  AbsPath file = {};  // where it stands; relative paths start two levels above

  bool operator==(const SandboxConfig&) const = default;
};

// The nearest .harness/config.toml at or above `start` that somebody entitled put there.
std::optional<AbsPath> find_config_file(const AbsPath& start);
// What it says, where it has such a table. It is taken as it stands: whoever calls this trusts the project.
Result<std::optional<SandboxConfig>> find_config(const AbsPath& start, const AbsPath& home);
Result<SandboxConfig> parse_config(std::string_view toml, const AbsPath& file, const AbsPath& home);

struct ExecutionResult {
  Outcome outcome = {};                   // with exit code 1 where the command is blocked, 125 where it did not run
  std::optional<std::string> error = {};  // why it did not run, or what could not be done afterwards

  bool success() const { return !error && outcome.success(); }
};

struct Execution {
  std::optional<AbsPath> cwd = {};                                // unset = the executor's
  std::chrono::milliseconds timeout = std::chrono::seconds(120);  // 0 = max_cpu_seconds
  std::string input = {};
  OutputSink on_output = {};
  const Stop* stop = nullptr;
};

class Executor {
 public:
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;
  ~Executor();

  // From any number of threads.
  ExecutionResult execute(const std::string& command, const Execution& execution = {}) const;
  // Nothing, or "Command blocked by sandbox policy: contains '…'". A courtesy; the kernel is the boundary.
  std::optional<std::string> validate_command(std::string_view command) const;
  // Waits for commands that run and removes what the executor made. Nothing can be executed afterwards. Called
  // from a command's own output callback it does not wait: the last command that ends removes it.
  void cleanup();

  const Sandbox* sandbox() const;                 // null after cleanup
  const std::vector<std::string>& notes() const;  // how the policy was read, and what has no effect

 private:
  friend Result<Executor> create_executor(const SandboxPolicy& policy, Context context);
  struct Parts;
  explicit Executor(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

Result<Executor> create_executor(const SandboxPolicy& policy, Context context);

// An outcome's members and "error"; for agents.
std::string result_to_json(ExecutionResult result, int indent = -1);

}  // namespace harn::harness
