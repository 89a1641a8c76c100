// SPDX-License-Identifier: Apache-2.0
// Every member with every kind of wrong value, and the exact words people get to read.
#include "harn/policy_text.h"

#include <span>

#include <gtest/gtest.h>

#include "policy/hosts.h"

namespace harn {
namespace {

struct BadText {
  std::string text = {};
  std::string error = {};  // place, message and hint, exactly
};

void expect_refusals(std::span<const BadText> cases) {
  const TextContext context{.home = AbsPath::of("/home/me"), .file_name = "p.toml"};
  for (const auto& [text, error] : cases) {
    const auto parsed = parse_policy_toml(text, context);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(describe(parsed.error()), error) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_policy) << text;
    EXPECT_EQ(parsed.error().stage, Stage::parse) << text;
  }
}

TEST(BadPolicy, NamesUnknownMembersAndTheNearestOne) {
  const BadText cases[] = {
      {R"(workspace_root = ["/w"])", R"(p.toml:1:1: unknown member 'workspace_root' (did you mean 'workspace_roots'?))"},
      {R"(profile = "worktree")", R"(p.toml:1:1: unknown member 'profile' (did you mean 'sandbox_profile'?))"},
      {R"(zebra = 1)",
       R"(p.toml:1:1: unknown member 'zebra' (valid members are: sandbox_profile, side_effect_level, capabilities, workspace_roots, read_only_roots, unprotect, process_sandbox, network, limits, env, blocked_commands, recursion_limit))"},
      {R"(Sandbox_Profile = "worktree")", R"(p.toml:1:1: unknown member 'Sandbox_Profile' (did you mean 'sandbox_profile'?))"},
      {R"(network.hosts = [])", R"(p.toml:1:9: unknown member 'hosts' in 'network' (did you mean 'allowed_hosts'?))"},
      {R"(network.allowed_host = ["x.org"])", R"(p.toml:1:9: unknown member 'allowed_host' in 'network' (did you mean 'allowed_hosts'?))"},
      {R"(limits.max_memory = 5)", R"(p.toml:1:8: unknown member 'max_memory' in 'limits' (did you mean 'max_memory_mb'?))"},
      {R"(limits.memory = 5)", R"(p.toml:1:8: unknown member 'memory' in 'limits' (did you mean 'max_memory_mb'?))"},
      {R"(env.unset = ["A"])", R"(p.toml:1:5: unknown member 'unset' in 'env' (valid members are: mode, set, remove, passthrough, strip))"},
      {R"(capabilities.network = ["connect"])",
       R"(p.toml:1:14: unknown member 'network' in 'capabilities' (valid members are: workspace, process))"},
      {R"(process_sandbox.read_root = ["/x"])",
       R"(p.toml:1:17: unknown member 'read_root' in 'process_sandbox' (did you mean 'read_roots'?))"},
      {R"(process_sandbox.unix_sockets = [{path = "/s", dangerous = true}])",
       R"(p.toml:1:47: unknown member 'dangerous' in 'process_sandbox.unix_sockets[0]' (did you mean 'allow_dangerous'?))"},
      {R"([[network]]
mode = "limited")",
       R"(p.toml:1:1: 'network' must be a table, found a list)"},
      {R"("" = 1)",
       R"(p.toml:1:1: unknown member '' (valid members are: sandbox_profile, side_effect_level, capabilities, workspace_roots, read_only_roots, unprotect, process_sandbox, network, limits, env, blocked_commands, recursion_limit))"},
      {R"(limits.file = 1)", R"(p.toml:1:8: unknown member 'file' in 'limits' (did you mean 'max_file_size_mb'?))"},
      {R"(limits.max = 1)",
       R"(p.toml:1:8: unknown member 'max' in 'limits' (valid members are: max_memory_mb, max_cpu_seconds, max_processes, max_file_size_mb, max_output_bytes, max_open_files, cpu_count, wall_time, idle_timeout))"},
  };
  expect_refusals(cases);
}

TEST(BadPolicy, RefusesWordsThatMeanNothing) {
  const BadText cases[] = {
      {R"(sandbox_profile = "worktre")", R"(p.toml:1:19: 'sandbox_profile' has the unknown value 'worktre' (did you mean 'worktree'?))"},
      {R"(sandbox_profile = "strict")",
       R"(p.toml:1:19: 'sandbox_profile' has the unknown value 'strict' (valid values are: unrestricted, worktree, wasi, os_hardened))"},
      {R"(sandbox_profile = "Worktree")", R"(p.toml:1:19: 'sandbox_profile' has the unknown value 'Worktree' (did you mean 'worktree'?))"},
      {R"(sandbox_profile = "")",
       R"(p.toml:1:19: 'sandbox_profile' has the unknown value '' (valid values are: unrestricted, worktree, wasi, os_hardened))"},
      {R"(sandbox_profile = 1)", R"(p.toml:1:19: 'sandbox_profile' must be one of unrestricted, worktree, wasi, os_hardened, found 1)"},
      {R"(sandbox_profile = ["worktree"])",
       R"(p.toml:1:19: 'sandbox_profile' must be one of unrestricted, worktree, wasi, os_hardened, found a list)"},
      {R"(side_effect_level = "readonly")",
       R"(p.toml:1:21: 'side_effect_level' has the unknown value 'readonly' (did you mean 'read_only'?))"},
      {R"(side_effect_level = "everything")",
       R"(p.toml:1:21: 'side_effect_level' has the unknown value 'everything' (valid values are: none, read_only, workspace_write, process_exec, network))"},
      {R"(side_effect_level = true)",
       R"(p.toml:1:21: 'side_effect_level' must be one of none, read_only, workspace_write, process_exec, network, found true)"},
      {R"(capabilities = ["read_text"])", R"(p.toml:1:16: 'capabilities' must be a table, found a list)"},
      {R"(capabilities.workspace = "read_text")",
       R"(p.toml:1:26: 'capabilities.workspace' must be a list of words, found the string 'read_text')"},
      {R"(capabilities.workspace = ["read_tex"])",
       R"(p.toml:1:27: 'capabilities.workspace[0]' has the unknown value 'read_tex' (did you mean 'read_text'?))"},
      {R"(capabilities.workspace = ["read_text", "chmod"])",
       R"(p.toml:1:40: 'capabilities.workspace[1]' has the unknown value 'chmod' (valid values are: read_text, list, exists, write_text, delete))"},
      {R"(capabilities.process = ["fork"])",
       R"(p.toml:1:25: 'capabilities.process[0]' has the unknown value 'fork' (valid values are: exec))"},
      {R"(capabilities.process = [1])", R"(p.toml:1:25: 'capabilities.process[0]' must be one of exec, found 1)"},
      {R"(process_sandbox.presets = ["user_tmp"])",
       R"(p.toml:1:28: 'process_sandbox.presets[0]' has the unknown value 'user_tmp' (did you mean 'user_temp'?))"},
      {R"(process_sandbox.presets = ["everything"])",
       R"(p.toml:1:28: 'process_sandbox.presets[0]' has the unknown value 'everything' (valid values are: system_runtime, developer_toolchains, package_manager_config, user_temp))"},
      {R"(process_sandbox.presets = "user_temp")",
       R"(p.toml:1:27: 'process_sandbox.presets' must be a list of words, found the string 'user_temp')"},
      {R"(process_sandbox.package_tokens = "yes")",
       R"(p.toml:1:34: 'process_sandbox.package_tokens' must be true or false, found the string 'yes')"},
      {R"(process_sandbox = "none")", R"(p.toml:1:19: 'process_sandbox' must be a table, found the string 'none')"},
      {R"(sandbox_profile = "hardened")",
       R"(p.toml:1:19: 'sandbox_profile' has the unknown value 'hardened' (did you mean 'os_hardened'?))"},
      {R"(sandbox_profile = "unrestrict")",
       R"(p.toml:1:19: 'sandbox_profile' has the unknown value 'unrestrict' (did you mean 'unrestricted'?))"},
  };
  expect_refusals(cases);
}

TEST(BadPolicy, RefusesPathsThatCouldMeanAnything) {
  const BadText cases[] = {
      {R"(workspace_roots = "/w")", R"(p.toml:1:19: 'workspace_roots' must be a list of absolute paths, found the string '/w')"},
      {R"(workspace_roots = ["src"])",
       R"(p.toml:1:20: 'workspace_roots[0]' must be an absolute path, found the string 'src' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(workspace_roots = ["./src"])",
       R"(p.toml:1:20: 'workspace_roots[0]' must be an absolute path, found the string './src' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(workspace_roots = [""])",
       R"(p.toml:1:20: 'workspace_roots[0]' must be an absolute path, found the string '' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(workspace_roots = ["/a", 5])", R"(p.toml:1:26: 'workspace_roots[1]' must be an absolute path, found 5)"},
      {R"(workspace_roots = ["/a\u0000b"])",
       R"(p.toml:1:20: 'workspace_roots[0]' must be a path without a NUL byte, found the string '/a\x00b')"},
      {R"(workspace_roots = ["/a/../b"])",
       R"(p.toml:1:20: 'workspace_roots[0]' must be a path without '..', found the string '/a/../b' (write the path it leads to))"},
      {R"(workspace_roots = ["~/../other"])",
       R"(p.toml:1:20: 'workspace_roots[0]' must be a path without '..', found the string '~/../other' (write the path it leads to))"},
      {R"(workspace_roots = ['C:\a\..\b'])",
       R"(p.toml:1:20: 'workspace_roots[0]' must be a path without '..', found the string 'C:\\a\\..\\b' (write the path it leads to))"},
      {R"(read_only_roots = ["~root/x"])",
       R"(p.toml:1:20: 'read_only_roots[0]' must be an absolute path, found the string '~root/x' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(read_only_roots = ["$HOMES/x"])",
       R"(p.toml:1:20: 'read_only_roots[0]' must be an absolute path, found the string '$HOMES/x' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(read_only_roots = ["${HOME}/x"])",
       R"(p.toml:1:20: 'read_only_roots[0]' must be an absolute path, found the string '${HOME}/x' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(read_only_roots = [["/a"]])", R"(p.toml:1:20: 'read_only_roots[0]' must be an absolute path, found a list)"},
      {R"(read_only_roots = true)", R"(p.toml:1:19: 'read_only_roots' must be a list of absolute paths, found true)"},
      {R"(unprotect = [".git/config"])",
       R"(p.toml:1:14: 'unprotect[0]' must be an absolute path, found the string '.git/config' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(unprotect = "/w/.git/config")",
       R"(p.toml:1:13: 'unprotect' must be a list of absolute paths, found the string '/w/.git/config')"},
      {R"(process_sandbox.read_roots = [1])", R"(p.toml:1:31: 'process_sandbox.read_roots[0]' must be an absolute path, found 1)"},
      {R"(process_sandbox.write_roots = ["tmp"])",
       R"(p.toml:1:32: 'process_sandbox.write_roots[0]' must be an absolute path, found the string 'tmp' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(process_sandbox.read_deny_roots = "/x")",
       R"(p.toml:1:35: 'process_sandbox.read_deny_roots' must be a list of absolute paths, found the string '/x')"},
      {R"(process_sandbox.credentials = [".ssh"])",
       R"(p.toml:1:32: 'process_sandbox.credentials[0]' must be an absolute path, found the string '.ssh' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(process_sandbox.unix_sockets = "/run/x.sock")",
       R"(p.toml:1:32: 'process_sandbox.unix_sockets' must be a list of socket paths, found the string '/run/x.sock')"},
      {R"(process_sandbox.unix_sockets = [1])",
       R"(p.toml:1:33: 'process_sandbox.unix_sockets[0]' must be an absolute path or {path, allow_dangerous}, found 1)"},
      {R"(process_sandbox.unix_sockets = ["x.sock"])",
       R"(p.toml:1:33: 'process_sandbox.unix_sockets[0]' must be an absolute path, found the string 'x.sock' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"(process_sandbox.unix_sockets = [{allow_dangerous = true}])",
       R"(p.toml:1:33: 'process_sandbox.unix_sockets[0]' has no 'path' (write {path = "/run/x.sock"}))"},
      {R"(process_sandbox.unix_sockets = [{path = "/s", allow_dangerous = "yes"}])",
       R"(p.toml:1:65: 'process_sandbox.unix_sockets[0].allow_dangerous' must be true or false, found the string 'yes')"},
  };
  expect_refusals(cases);
}

TEST(BadPolicy, RefusesNetworkRulesThatDoNotAddUp) {
  const BadText cases[] = {
      {R"(network = "limited")", R"(p.toml:1:11: 'network' must be a table, found the string 'limited')"},
      {R"(network.mode = "none")", R"(p.toml:1:16: 'network.mode' has the unknown value 'none' (valid values are: limited, unrestricted))"},
      {R"(network.mode = "restricted")",
       R"(p.toml:1:16: 'network.mode' has the unknown value 'restricted' (valid values are: limited, unrestricted))"},
      {R"(network.mode = "unrestrictd")",
       R"(p.toml:1:16: 'network.mode' has the unknown value 'unrestrictd' (did you mean 'unrestricted'?))"},
      {R"(network.mode = true)", R"(p.toml:1:16: 'network.mode' must be one of limited, unrestricted, found true)"},
      {R"(network.allowed_hosts = "x.org")", R"(p.toml:1:25: 'network.allowed_hosts' must be a list of hosts, found the string 'x.org')"},
      {R"(network.loopback = 1)", R"(p.toml:1:20: 'network.loopback' must be true or false, found 1)"},
      {R"(network.blocked_ports = [0])", R"(p.toml:1:26: 'network.blocked_ports[0]' must be an integer from 1 to 65535, found 0)"},
      {R"(network.blocked_ports = [65536])", R"(p.toml:1:26: 'network.blocked_ports[0]' must be an integer from 1 to 65535, found 65536)"},
      {R"(network.blocked_ports = ["80"])",
       R"(p.toml:1:26: 'network.blocked_ports[0]' must be an integer from 1 to 65535, found the string '80' (write the number without quotes and without a unit))"},
      {R"(network.blocked_ports = 80)", R"(p.toml:1:25: 'network.blocked_ports' must be a list of port numbers, found 80)"},
      {R"(network.allowed_hosts = [80])", R"(p.toml:1:26: 'network.allowed_hosts[0]' must be a host, found 80)"},
      {R"(side_effect_level = "process_exec"
[network]
allowed_hosts = ["x.org"])",
       R"(p.toml:2:1: network.allowed_hosts names 'x.org' but side_effect_level is 'process_exec' (set side_effect_level = "network", or remove the network grant))"},
      {R"(network.mode = "unrestricted")",
       R"(p.toml:1:1: network.mode is 'unrestricted' but side_effect_level is 'process_exec' (set side_effect_level = "network", or remove the network grant))"},
      {R"(side_effect_level = "network"
[network]
mode = "unrestricted"
allowed_hosts = ["x.org"])",
       R"(p.toml:4:17: network.allowed_hosts has no effect with mode 'unrestricted' (use mode = "limited" to reach only these hosts))"},
  };
  expect_refusals(cases);
}

TEST(BadPolicy, RefusesLimitsThatAreNotExactNumbers) {
  const BadText cases[] = {
      {R"(limits = 5)", R"(p.toml:1:10: 'limits' must be a table, found 5)"},
      {R"(limits.max_memory_mb = 0)", R"(p.toml:1:24: 'limits.max_memory_mb' must be an integer from 1 to 1073741824, found 0)"},
      {R"(limits.max_memory_mb = -1)", R"(p.toml:1:24: 'limits.max_memory_mb' must be an integer from 1 to 1073741824, found -1)"},
      {R"(limits.max_memory_mb = 512.0)", R"(p.toml:1:24: 'limits.max_memory_mb' must be an integer from 1 to 1073741824, found 512.0)"},
      {R"(limits.max_memory_mb = "512M")",
       R"(p.toml:1:24: 'limits.max_memory_mb' must be an integer from 1 to 1073741824, found the string '512M' (write the number without quotes and without a unit))"},
      {R"(limits.max_memory_mb = 8796093022208)",
       R"(p.toml:1:24: 'limits.max_memory_mb' must be an integer from 1 to 1073741824, found 8796093022208)"},
      {R"(limits.max_memory_mb = nan)", R"(p.toml:1:24: 'limits.max_memory_mb' must be an integer from 1 to 1073741824, found nan)"},
      {R"(limits.max_cpu_seconds = inf)", R"(p.toml:1:26: 'limits.max_cpu_seconds' must be an integer from 1 to 316224000, found inf)"},
      {R"(limits.max_cpu_seconds = 0)", R"(p.toml:1:26: 'limits.max_cpu_seconds' must be an integer from 1 to 316224000, found 0)"},
      {R"(limits.max_processes = 5000000)", R"(p.toml:1:24: 'limits.max_processes' must be an integer from 1 to 4194304, found 5000000)"},
      {R"(limits.max_file_size_mb = true)",
       R"(p.toml:1:27: 'limits.max_file_size_mb' must be an integer from 1 to 1073741824, found true)"},
      {R"(limits.max_open_files = [])", R"(p.toml:1:25: 'limits.max_open_files' must be an integer from 1 to 1073741824, found a list)"},
      {R"(limits.max_output_bytes = "10MB")",
       R"(p.toml:1:27: 'limits.max_output_bytes': '10MB' is not a size (write bytes, or a whole number with K, M, G or T (powers of 1024), such as 512M))"},
      {R"(limits.max_output_bytes = "99999999999T")",
       R"(p.toml:1:27: 'limits.max_output_bytes': the size '99999999999T' is too large (write bytes, or a whole number with K, M, G or T (powers of 1024), such as 512M))"},
      {R"(limits.max_output_bytes = "2048T")",
       R"(p.toml:1:27: 'limits.max_output_bytes' must be a size from 1 to 1125899906842624 bytes, found the string '2048T')"},
      {R"(limits.max_output_bytes = 0)",
       R"(p.toml:1:27: 'limits.max_output_bytes' must be a size from 1 to 1125899906842624 bytes, found 0)"},
      {R"(limits.max_output_bytes = 1.5)",
       R"(p.toml:1:27: 'limits.max_output_bytes' must be a size from 1 to 1125899906842624 bytes, found 1.5)"},
      {R"(limits.cpu_count = 0)",
       R"(p.toml:1:20: 'limits.cpu_count' must be a number from 0.001 to 4096 with at most three decimals, found 0)"},
      {R"(limits.cpu_count = -1.5)",
       R"(p.toml:1:20: 'limits.cpu_count' must be a number from 0.001 to 4096 with at most three decimals, found -1.5)"},
      {R"(limits.cpu_count = 1.0005)",
       R"(p.toml:1:20: 'limits.cpu_count' must be a number from 0.001 to 4096 with at most three decimals, found 1.0005)"},
      {R"(limits.cpu_count = nan)",
       R"(p.toml:1:20: 'limits.cpu_count' must be a number from 0.001 to 4096 with at most three decimals, found nan)"},
      {R"(limits.cpu_count = 4097)",
       R"(p.toml:1:20: 'limits.cpu_count' must be a number from 0.001 to 4096 with at most three decimals, found 4097)"},
      {R"(limits.cpu_count = "2")",
       R"(p.toml:1:20: 'limits.cpu_count' must be a number from 0.001 to 4096 with at most three decimals, found the string '2')"},
      {R"(limits.wall_time = "soon")",
       R"(p.toml:1:20: 'limits.wall_time': 'soon' is not a duration (write seconds, or a number with ms, s, m or h such as 30s))"},
      {R"(limits.wall_time = "30 s")",
       R"(p.toml:1:20: 'limits.wall_time': '30 s' is not a duration (write seconds, or a number with ms, s, m or h such as 30s))"},
      {R"(limits.wall_time = "0s")",
       R"(p.toml:1:20: 'limits.wall_time' must be a duration from 1ms to 8760h, or a number of seconds, found the string '0s')"},
      {R"(limits.wall_time = -1)",
       R"(p.toml:1:20: 'limits.wall_time' must be a duration from 1ms to 8760h, or a number of seconds, found -1)"},
      {R"(limits.wall_time = 0.0001)",
       R"(p.toml:1:20: 'limits.wall_time' must be a duration from 1ms to 8760h, or a number of seconds, found 0.0001)"},
      {R"(limits.wall_time = inf)",
       R"(p.toml:1:20: 'limits.wall_time' must be a duration from 1ms to 8760h, or a number of seconds, found inf)"},
      {R"(limits.wall_time = "9000h")",
       R"(p.toml:1:20: 'limits.wall_time' must be a duration from 1ms to 8760h, or a number of seconds, found the string '9000h')"},
      {R"(limits.wall_time = 00:00:30)",
       R"(p.toml:1:20: a policy has no dates or times, found '00:00:30' (write it in quotes if a string is meant))"},
      {R"(limits.idle_timeout = 1979-05-27)",
       R"(p.toml:1:23: a policy has no dates or times, found '1979-05-27' (write it in quotes if a string is meant))"},
      {R"(limits.idle_timeout = 1979-05-27T07:32:00Z)",
       R"(p.toml:1:23: a policy has no dates or times, found '1979-05-27T07:32:00Z' (write it in quotes if a string is meant))"},
      {R"(limits.idle_timeout = true)",
       R"(p.toml:1:23: 'limits.idle_timeout' must be a duration from 1ms to 8760h, or a number of seconds, found true)"},
  };
  expect_refusals(cases);
}

TEST(BadPolicy, RefusesNamesAndCommandsThatCannotExist) {
  const BadText cases[] = {
      {R"(env = "inherit")", R"(p.toml:1:7: 'env' must be a table, found the string 'inherit')"},
      {R"(env.mode = "clear")", R"(p.toml:1:12: 'env.mode' has the unknown value 'clear' (valid values are: inherit, patch, replace))"},
      {R"(env.set = ["A=1"])", R"(p.toml:1:11: 'env.set' must be a table, found a list)"},
      {R"(env.set.A = 1)", R"(p.toml:1:13: 'env.set.A' must be a string, found 1)"},
      {R"(env.set."A=B" = "1")",
       R"(p.toml:1:9: 'env.set.A=B' must be a variable name, found the string 'A=B' (a name is not empty and has no '=' and no NUL byte))"},
      {R"(env.set."" = "1")",
       R"(p.toml:1:9: 'env.set.' must be a variable name, found the string '' (a name is not empty and has no '=' and no NUL byte))"},
      {R"(env.set."A\u0000" = "1")",
       R"(p.toml:1:9: 'env.set.A\x00' must be a variable name, found the string 'A\x00' (a name is not empty and has no '=' and no NUL byte))"},
      {R"(env.set.A = "x\u0000y")", R"(p.toml:1:13: 'env.set.A' must be a string without a NUL byte, found the string 'x\x00y')"},
      {R"(env.remove = ["A=1"])",
       R"(p.toml:1:15: 'env.remove[0]' must be a variable name, found the string 'A=1' (a name is not empty and has no '=' and no NUL byte))"},
      {R"(env.remove = "A")", R"(p.toml:1:14: 'env.remove' must be a list of variable names, found the string 'A')"},
      {R"(env.remove = ["AWS_*"])",
       R"(p.toml:1:15: 'env.remove[0]' must be the exact name of a variable, found the string 'AWS_*' (patterns belong in 'env.strip'))"},
      {R"(env.passthrough = ["*_TOKEN"])",
       R"(p.toml:1:20: 'env.passthrough[0]' must be the exact name of a variable, found the string '*_TOKEN' (patterns belong in 'env.strip'))"},
      {R"(env.passthrough = [""])",
       R"(p.toml:1:20: 'env.passthrough[0]' must be a variable name, found the string '' (a name is not empty and has no '=' and no NUL byte))"},
      {R"(env.strip = ["X=*"])",
       R"(p.toml:1:14: 'env.strip[0]' must be a variable name, found the string 'X=*' (a name is not empty and has no '=' and no NUL byte))"},
      {R"(env.strip = [7])", R"(p.toml:1:14: 'env.strip[0]' must be a variable name, found 7)"},
      {R"(blocked_commands = "rm")", R"(p.toml:1:20: 'blocked_commands' must be a list of commands, found the string 'rm')"},
      {R"(blocked_commands = [""])",
       R"(p.toml:1:21: 'blocked_commands[0]' must be a command, found the string '' (an entry is not blank and has no NUL byte))"},
      {R"(blocked_commands = ["  "])",
       R"(p.toml:1:21: 'blocked_commands[0]' must be a command, found the string '  ' (an entry is not blank and has no NUL byte))"},
      {R"(blocked_commands = ["rm\u0000"])",
       R"(p.toml:1:21: 'blocked_commands[0]' must be a command, found the string 'rm\x00' (an entry is not blank and has no NUL byte))"},
      {R"(blocked_commands = [1])", R"(p.toml:1:21: 'blocked_commands[0]' must be a command, found 1)"},
      {R"(recursion_limit = -1)", R"(p.toml:1:19: 'recursion_limit' must be an integer from 0 to 4294967295, found -1)"},
      {R"(recursion_limit = 4294967296)", R"(p.toml:1:19: 'recursion_limit' must be an integer from 0 to 4294967295, found 4294967296)"},
      {R"(recursion_limit = 1.0)", R"(p.toml:1:19: 'recursion_limit' must be an integer from 0 to 4294967295, found 1.0)"},
      {R"(recursion_limit = "2")",
       R"(p.toml:1:19: 'recursion_limit' must be an integer from 0 to 4294967295, found the string '2' (write the number without quotes and without a unit))"},
  };
  expect_refusals(cases);
}

// The host grammar has tests and wording of its own; here only the place and the name are ours.
TEST(BadPolicy, RetellsWhatTheHostParserSays) {
  for (const std::string host : {"", "a b", "x.org:65536"}) {
    const auto rule = policy::parse_host_rule(host);
    ASSERT_FALSE(rule) << host;
    const BadText cases[] = {
        {"network.allowed_hosts = [\"ok.org\", \"" + host + "\"]",
         describe(
             Error{.message = "'network.allowed_hosts[1]': " + rule.error().message, .hint = rule.error().hint, .where = "p.toml:1:36"})}};
    expect_refusals(cases);
  }
}

}  // namespace
}  // namespace harn
