// SPDX-License-Identifier: Apache-2.0
// Texts that are no TOML or JSON at all, too large, too deep or too clever, and where JSON errors point.
#include "harn/policy_text.h"

#include <gtest/gtest.h>

namespace harn {
namespace {

struct BadText {
  std::string text = {};
  std::string error = {};  // place, message and hint, exactly
};

const TextContext toml_file{.home = AbsPath::of("/home/me"), .file_name = "p.toml"};
const TextContext json_file{.home = AbsPath::of("/home/me"), .file_name = "p.json"};

std::string toml_refusal(std::string_view text) {
  const auto parsed = parse_policy_toml(text, toml_file);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_policy);
  return describe(parsed.error());
}

std::string json_refusal(std::string_view text) {
  const auto parsed = parse_policy_json(text, json_file);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_policy);
  return describe(parsed.error());
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

TEST(BadText, NamesTheLineAndColumnOfBrokenToml) {
  const BadText cases[] = {
      {R"(sandbox_profile = )", R"(p.toml:1:19: invalid TOML in key-value pair: encountered end-of-file)"},
      {R"(sandbox_profile "worktree")", R"(p.toml:1:17: invalid TOML in key-value pair: expected '=', saw '"')"},
      {R"(sandbox_profile = "worktree)", R"(p.toml:1:28: invalid TOML in string: encountered end-of-file)"},
      {R"(= 3)", R"(p.toml:1:1: invalid TOML in root table: expected keys, tables, whitespace or comments, saw '=')"},
      {R"([[@x]])", R"(p.toml:1:3: invalid TOML in key: expected bare key starting character or string delimiter, saw '@')"},
      {R"(é = 1)", R"(p.toml:1:1: invalid TOML in root table: expected keys, tables, whitespace or comments, saw 'é')"},
      {R"(recursion_limit = 1é)", R"(p.toml:1:20: invalid TOML in decimal integer: expected digit, saw 'é')"},
      {R"([network)", R"(p.toml:1:9: invalid TOML in table header: encountered end-of-file)"},
      {R"([network]
mode = "limited"
[network]
loopback = true)",
       R"(p.toml:3:1: invalid TOML in table header: cannot redefine existing table 'network' (keep one of them))"},
      {R"(sandbox_profile = "worktree"
sandbox_profile = "wasi")",
       R"(p.toml:2:19: invalid TOML in key-value pair: cannot redefine existing string 'sandbox_profile' (keep one of them))"},
      {R"(network = {mode = "limited"}
[network]
loopback = true)",
       R"(p.toml:2:1: invalid TOML in table header: cannot redefine existing table 'network' (keep one of them))"},
      {R"(limits.max_memory_mb = 1
limits.max_memory_mb = 2)",
       R"(p.toml:2:24: invalid TOML in key-value pair: cannot redefine existing integer 'limits.max_memory_mb' (keep one of them))"},
      {R"(limits = 1
limits.wall_time = 2)",
       R"(p.toml:2:1: invalid TOML in key-value pair: cannot redefine existing integer as dotted key-value pair (keep one of them))"},
      {R"(sandbox_profile = worktree)", R"(p.toml:1:19: invalid TOML in value: could not determine value type (put text in quotes))"},
      {R"(recursion_limit = 9223372036854775808)",
       R"(p.toml:1:38: invalid TOML in decimal integer: '9223372036854775808' is not representable in 64 bits)"},
      {R"(recursion_limit = 01)", R"(p.toml:1:21: invalid TOML in decimal integer: leading zeroes are prohibited)"},
      {R"(limits = {max_memory_mb = 1)", R"(p.toml:1:28: invalid TOML in inline table: encountered end-of-file)"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(toml_refusal(text), error) << text;
}

TEST(BadText, NamesTheJsonPointer) {
  const BadText cases[] = {
      {R"()", R"(p.json:1:1: the JSON text ends too early (close every string, list and object))"},
      {R"([])", R"(p.json:1:1#: the policy must be an object, found a list)"},
      {R"("worktree")", R"(p.json:1:1#: the policy must be an object, found the string 'worktree')"},
      {R"(null)", R"(p.json:1:1#: the policy must be an object, found null)"},
      {R"({"sandbox_profile": "worktree",})", R"(p.json:1:32: this is not JSON: unexpected '}')"},
      {R"({"sandbox_profile": "worktree"} {})", R"(p.json:1:33: more text follows the end of the JSON value (remove it))"},
      {R"({'a': 1})", R"(p.json:1:2: this is not JSON: unexpected '\'')"},
      {R"(// policy
{})",
       R"(p.json:1:1: this is not JSON: unexpected '/')"},
      {R"({"sandbox_profile": "worktree", "sandbox_profile": "wasi"})",
       R"(p.json:1:33: the member 'sandbox_profile' appears twice (keep one of them))"},
      {R"({"network": {"mode": "limited", "mode": "limited"}})", R"(p.json:1:33: the member 'mode' appears twice (keep one of them))"},
      {R"({"sandbox_profle": "worktree"})",
       R"(p.json:1:2#/sandbox_profle: unknown member 'sandbox_profle' (did you mean 'sandbox_profile'?))"},
      {R"({"sandbox_profile": null})",
       R"(p.json:1:21#/sandbox_profile: 'sandbox_profile' must be one of unrestricted, worktree, wasi, os_hardened, found null (leave the member out to leave it unset))"},
      {R"({"sandbox_profile": {}})",
       R"(p.json:1:21#/sandbox_profile: 'sandbox_profile' must be one of unrestricted, worktree, wasi, os_hardened, found an object)"},
      {R"({"sandbox_profile":
  "os_hardend"})",
       R"(p.json:2:3#/sandbox_profile: 'sandbox_profile' has the unknown value 'os_hardend' (did you mean 'os_hardened'?))"},
      {R"({"capabilities": null})",
       R"(p.json:1:18#/capabilities: 'capabilities' must be an object, found null (leave the member out to leave it unset))"},
      {R"({"capabilities": {"workspace": null}})",
       R"(p.json:1:32#/capabilities/workspace: 'capabilities.workspace' must be a list of words, found null (leave the member out to leave it unset))"},
      {R"({"capabilities": {"files": []}})",
       R"(p.json:1:19#/capabilities/files: unknown member 'files' in 'capabilities' (valid members are: workspace, process))"},
      {R"({"workspace_roots": null})",
       R"(p.json:1:21#/workspace_roots: 'workspace_roots' must be a list of absolute paths, found null (leave the member out to leave it unset))"},
      {R"({"workspace_roots": ["/ok", "no"]})",
       R"(p.json:1:29#/workspace_roots/1: 'workspace_roots[1]' must be an absolute path, found the string 'no' (write it from the root, or start it with ~/ or $HOME/))"},
      {R"({"workspace_roots": ["/a\u0000"]})",
       R"(p.json:1:22#/workspace_roots/0: 'workspace_roots[0]' must be a path without a NUL byte, found the string '/a\x00')"},
      {R"({"workspace_roots": {"0": "/a"}})",
       R"(p.json:1:21#/workspace_roots: 'workspace_roots' must be a list of absolute paths, found an object)"},
      {R"({"process_sandbox": {"presets": [null]}})",
       R"(p.json:1:34#/process_sandbox/presets/0: 'process_sandbox.presets[0]' must be one of system_runtime, developer_toolchains, package_manager_config, user_temp, found null)"},
      {R"({"process_sandbox": []})", R"(p.json:1:21#/process_sandbox: 'process_sandbox' must be an object, found a list)"},
      {R"({"process_sandbox": {"unix_sockets": [{"path": "/a"}, {"path": 1}]}})",
       R"(p.json:1:64#/process_sandbox/unix_sockets/1/path: 'process_sandbox.unix_sockets[1].path' must be an absolute path, found 1)"},
      {R"({"process_sandbox": {"unix_sockets": [{}]}})",
       R"(p.json:1:39#/process_sandbox/unix_sockets/0: 'process_sandbox.unix_sockets[0]' has no 'path' (write {path = "/run/x.sock"}))"},
      {R"({"network": {"mode": "limited", "allowed_hosts": ["x.org", 3]}})",
       R"(p.json:1:60#/network/allowed_hosts/1: 'network.allowed_hosts[1]' must be a host, found 3)"},
      {R"({"network": {"allowed_hosts": ["x.org"]}})",
       R"(p.json:1:13#/network: network.allowed_hosts names 'x.org' but side_effect_level is 'process_exec' (set side_effect_level = "network", or remove the network grant))"},
      {R"({"network": null})", R"(p.json:1:13#/network: 'network' must be an object, found null (leave the member out to leave it unset))"},
      {R"({"network": {"blocked_ports": [22, 70000]}})",
       R"(p.json:1:36#/network/blocked_ports/1: 'network.blocked_ports[1]' must be an integer from 1 to 65535, found 70000)"},
      {R"({"limits": {"max_memory_mb": 1e3}})",
       R"(p.json:1:30#/limits/max_memory_mb: 'limits.max_memory_mb' must be an integer from 1 to 1073741824, found 1000.0)"},
      {R"({"limits": {"max_memory_mb": -5}})",
       R"(p.json:1:30#/limits/max_memory_mb: 'limits.max_memory_mb' must be an integer from 1 to 1073741824, found -5)"},
      {R"({"limits": {"max_memory_mb": 18446744073709551616}})",
       R"(p.json:1:30: the integer '18446744073709551616' does not fit in 64 bits (write a smaller number))"},
      {R"({"limits": {"wall_time": {}}})",
       R"(p.json:1:26#/limits/wall_time: 'limits.wall_time' must be a duration from 1ms to 8760h, or a number of seconds, found an object)"},
      {R"({"env": {"set": {"a/b~c": 1}}})", R"(p.json:1:27#/env/set/a~1b~0c: 'env.set.a/b~c' must be a string, found 1)"},
      {R"({"env": {"set": {"": "x"}}})",
       R"(p.json:1:18#/env/set/: 'env.set.' must be a variable name, found the string '' (a name is not empty and has no '=' and no NUL byte))"},
      {R"({"env": {"mode": "Inherit"}})", R"(p.json:1:18#/env/mode: 'env.mode' has the unknown value 'Inherit' (did you mean 'inherit'?))"},
      {R"({"blocked_commands": [["rm"]]})", R"(p.json:1:23#/blocked_commands/0: 'blocked_commands[0]' must be a command, found a list)"},
      {R"({"recursion_limit": 0.5})",
       R"(p.json:1:21#/recursion_limit: 'recursion_limit' must be an integer from 0 to 4294967295, found 0.5)"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(json_refusal(text), error) << text;
}

TEST(BadText, RefusesFilesThatAreTooLarge) {
  const std::string large = repeated("# padding\n", 1'048'576);
  EXPECT_EQ(toml_refusal(large),
            "p.toml: the policy has 10485760 bytes, more than the 4194304 that are read (check that this is a policy file)");
  EXPECT_EQ(json_refusal(large),
            "p.json: the policy has 10485760 bytes, more than the 4194304 that are read (check that this is a policy file)");
  EXPECT_EQ(toml_refusal(std::string(max_policy_bytes, '\n')), "accepted");
}

TEST(BadText, RefusesDeepNesting) {
  const std::string deep = "the policy is nested deeper than 64 levels (flatten it)";
  EXPECT_EQ(toml_refusal("workspace_roots = " + repeated("[", 100'000)), "p.toml:1:83: " + deep);
  EXPECT_EQ(toml_refusal("a = " + repeated("{a = ", 100'000)), "p.toml:1:325: " + deep);
  EXPECT_EQ(toml_refusal(repeated("a.", 80) + "a = 1"), "p.toml:1:129: " + deep);
  EXPECT_EQ(json_refusal("{\"a\": " + repeated("[", 100'000)), "p.json:1:70: the JSON text is nested deeper than 64 levels (flatten it)");
}

// Each dot makes toml++ build a table inside a table, and each header makes it search all tables.
TEST(BadText, RefusesTomlMadeToExhaustTheParser) {
  const std::string screened = "p.toml: the policy has more than 1000 dotted names and table headers (check that this is a policy file)";
  EXPECT_EQ(toml_refusal(repeated("a.", 1'000'000) + "a = 1"), screened);
  EXPECT_EQ(toml_refusal("[" + repeated("a.", 1'000'000) + "a]"), screened);
  EXPECT_EQ(toml_refusal("x = \"\"\"'\n\"\"\"\"\n" + repeated("\t[[b]]\n", 1001)), screened);
  EXPECT_EQ(toml_refusal("x = '\\'\n" + repeated("[[b]]\n", 1001)), screened);
  std::string headers;
  for (int i = 0; i < 100'000; ++i) headers += "[t" + std::to_string(i) + ".x]\n";
  EXPECT_EQ(toml_refusal(headers), screened);
}

TEST(BadText, CountsOnlyDotsThatNest) {
  const auto dots = repeated("...", 1000);
  for (const auto& text : {"# " + dots, "blocked_commands = [\"" + dots + "\"]", "blocked_commands = ['" + dots + "']",
                           "blocked_commands = [\"\"\"\\\"\"\"" + dots + "\"\"\"\"]", "blocked_commands = [\'\'\'" + dots + "''\'\'\']"})
    EXPECT_EQ(toml_refusal(text), "accepted") << text.substr(0, 30);
}

TEST(BadText, RefusesInvalidUtf8) {
  EXPECT_EQ(toml_refusal("sandbox_profile = \"\xFF\""), "p.toml:1:19: the text is not valid UTF-8 (save the file as UTF-8)");
  EXPECT_EQ(toml_refusal("# \xC3\x28"), "p.toml:1:2: the text is not valid UTF-8 (save the file as UTF-8)");
  EXPECT_EQ(json_refusal("{\"sandbox_profile\": \"\xC0\xAF\"}"), "p.json:1:22: the text is not valid UTF-8 (save the file as UTF-8)");
  EXPECT_EQ(json_refusal("{\"sandbox_profile\": \"\\ud800\"}"), "p.json:1:28: this is not JSON: unexpected '\"'");
}

TEST(BadText, RefusesNulBytesOutsideStringsToo) {
  EXPECT_EQ(toml_refusal(std::string("a\0 = 1", 7)), "p.toml:1:2: invalid TOML in key-value pair: expected '=', saw '\\u0000'");
  EXPECT_EQ(json_refusal(std::string("{\0}", 3)), "p.json:1:2: this is not JSON: unexpected '\\x00'");
}

TEST(BadText, RefusesPathsNoSystemCanOpen) {
  EXPECT_EQ(toml_refusal("read_only_roots = [\"/" + std::string(4096, 'x') + "\"]"),
            "p.toml:1:20: 'read_only_roots[0]' is too long: 4097 bytes, 1 components (a path has at most 4096 bytes and 256 components)");
  EXPECT_EQ(toml_refusal("read_only_roots = [\"" + repeated("/a", 257) + "\"]"),
            "p.toml:1:20: 'read_only_roots[0]' is too long: 514 bytes, 257 components (a path has at most 4096 bytes and 256 components)");
  EXPECT_EQ(toml_refusal("read_only_roots = [\"/" + std::string(4095, 'x') + "\", \"" + repeated("/a", 256) + "\"]"), "accepted");
}

TEST(BadText, RefusesTheHomeDirectoryWhenNoneIsKnown) {
  const auto parsed = parse_policy_toml("workspace_roots = [\"~/src\"]", TextContext{.home = {}, .file_name = "p.toml"});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(describe(parsed.error()),
            "p.toml:1:20: 'workspace_roots[0]' names the home directory in '~/src', but none is known (write the absolute path)");
}

TEST(BadText, NamesThePlaceWithoutAFileName) {
  EXPECT_EQ(parse_policy_toml("x = 1", TextContext{}).error().where, "1:1");
  EXPECT_EQ(parse_policy_json("{\"x\": 1}", TextContext{}).error().where, "1:2#/x");
  EXPECT_EQ(parse_policy_json("{", TextContext{}).error().where, "1:2");
}

}  // namespace
}  // namespace harn
