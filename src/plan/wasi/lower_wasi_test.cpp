// SPDX-License-Identifier: Apache-2.0
// What each runtime is told, word by word; and that nothing but a module ever gets that far.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/text.h"
#include "harn/plan.h"
#include "plan/names.h"
#include "plan/wasi/runtimes.h"

namespace harn {
namespace {

HostFacts host(const std::vector<std::string>& runtimes) {
  HostFacts facts{.name = "test",
                  .home = AbsPath::of("/home/me"),
                  .temp = AbsPath::of("/tmp"),
                  .cwd = AbsPath::of("/p"),
                  .project_root = AbsPath::of("/p"),
                  .unlisted = PathKind::directory};
  facts.linux = {
      .kernel = "6.12", .landlock_abi = 6, .seccomp = true, .user_namespaces = true, .pid_namespaces = true, .network_namespaces = true};
  for (const auto& name : runtimes) facts.tools[name] = {.path = AbsPath::of("/usr/bin/" + name), .works = true};
  return facts;
}

Policy policy() {
  return {.sandbox_profile = Profile::wasi,
          .workspace_roots = std::vector<AbsPath>{AbsPath::of("/p")},
          .read_only_roots = std::vector<AbsPath>{AbsPath::of("/data"), AbsPath::of("/p/fixed")}};
}

const Command module{.argv = {"m.wasm", "x", "-y"},
                     .environment = {{"LANG", "C"}, {"GITHUB_TOKEN", "s"}, {"NODE_OPTIONS", "--require=/p/x.js"}}};

std::string words(const Plan& plan) {
  std::string out;
  for (const auto& word : plan.argv) out += word + "\n";
  return out;
}

TEST(Wasi, WordsForEachRuntime) {
  const std::pair<std::string, std::string> expected[] = {
      {"wasmtime",
       "/usr/bin/wasmtime\nrun\n--dir=/p::.\n--dir=/p::/p\n--dir=/data::/data\n--dir=/p/fixed::/p/fixed\n--env=LANG=C\n"
       "--env=NODE_OPTIONS=--require=/p/x.js\n/p/m.wasm\nx\n-y\n"},
      {"wasmedge",
       "/usr/bin/wasmedge\n--force-interpreter\n--dir\n.:/p\n--dir\n/p:/p\n--dir\n/data:/data:readonly\n--dir\n/p/fixed:/p/fixed:readonly\n"
       "--env\nLANG=C\n--env\nNODE_OPTIONS=--require=/p/x.js\n/p/m.wasm\nx\n-y\n"},
      {"wasmer",
       "/usr/bin/wasmer\nrun\n--mapdir\n.:/p\n--mapdir\n/p:/p\n--mapdir\n/data:/data\n--mapdir\n/p/fixed:/p/fixed\n--env\nLANG=C\n"
       "--env\nNODE_OPTIONS=--require=/p/x.js\n/p/m.wasm\n--\nx\n-y\n"},
      {"iwasm",
       "/usr/bin/iwasm\n--map-dir=.::/p\n--map-dir=/p::/p\n--map-dir=/data::/data\n--map-dir=/p/fixed::/p/fixed\n--env=LANG=C\n"
       "--env=NODE_OPTIONS=--require=/p/x.js\n/p/m.wasm\nx\n-y\n"},
  };
  for (const auto& [name, text] : expected) {
    const auto plan = make_plan(policy(), module, host({name}));
    ASSERT_TRUE(plan) << describe(plan.error());
    EXPECT_EQ(words(*plan), text);
    EXPECT_EQ(plan->wasi->runtime, name);
    for (const auto& [variable, value] : plan->env.variables) EXPECT_NE(variable, "NODE_OPTIONS");
  }
}

TEST(Wasi, NodeIsToldInOneWordAndGetsNoVariableItKnows) {
  const auto plan = make_plan(policy(), module, host({"node"}));
  ASSERT_TRUE(plan) << describe(plan.error());
  const auto& argv = plan->argv;
  ASSERT_EQ(argv.size(), 11u);
  EXPECT_EQ(argv[0], "/usr/bin/node");
  EXPECT_EQ(argv[5], "-e");
  EXPECT_EQ(argv[8],
            R"({"module": "/p/m.wasm", "name": "m.wasm", "preopens": {".": "/p", "/p": "/p", "/data": "/data", "/p/fixed": "/p/fixed"}})");
  EXPECT_EQ(argv[10], "-y");
  EXPECT_EQ(plan->env.variables.at("GUEST_LANG"), "C");
  EXPECT_EQ(plan->env.variables.at("GUEST_NODE_OPTIONS"), "--require=/p/x.js");
  EXPECT_FALSE(plan->env.variables.contains("NODE_OPTIONS"));
  EXPECT_FALSE(plan->env.variables.contains("GUEST_GITHUB_TOKEN"));
  ASSERT_EQ(plan->env.removed.size(), 1u);
  EXPECT_EQ(plan->env.removed[0].name, "GITHUB_TOKEN");
}

TEST(Wasi, ThePlanIsTheConfinedRuntimeUnderTheOriginalPolicy) {
  const auto plan = make_plan(policy(), module, host({"node", "wasmedge"}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->route, Route::wasi);
  EXPECT_EQ(plan->backend, Backend::linux);
  EXPECT_EQ(plan->wasi->runtime, "wasmedge");
  EXPECT_EQ(plan->policy_digest, digest(policy()));
  EXPECT_TRUE(std::holds_alternative<LinuxConfinement>(plan->confinement));
  EXPECT_EQ(plan->coverage[Dimension::reads].layers.back(), "wasi");
  EXPECT_EQ(plan->wasi->preopens[2], (Preopen{.guest = "/data", .host = AbsPath::of("/data"), .writable = false}));
  EXPECT_EQ(make_plan(policy(), module, host({"node", "wasmedge"}), {.wasi_runtime = "node"})->wasi->runtime, "node");
  const auto again = plan_from_json(plan_to_json(*plan));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *plan);
}

// Node follows links out of the directories it gives a module.
TEST(Wasi, ARuntimeThatIsNoBoundaryIsNoLayer) {
  const auto plan = make_plan(policy(), module, host({"node"}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->route, Route::wasi);
  for (const auto& entry : plan->coverage.dimensions) EXPECT_EQ(std::ranges::count(entry.layers, "wasi"), 0);
  ASSERT_FALSE(plan->notes.empty());
  EXPECT_NE(plan->notes.back().find("node is no boundary of its own"), std::string::npos) << plan->notes.back();
}

TEST(Wasi, DeniedDirectoriesAreNoPreopens) {
  auto closed = policy();
  closed.process_sandbox.read_deny_roots = {AbsPath::of("/data")};
  const auto plan = make_plan(closed, module, host({"wasmtime"}));
  ASSERT_TRUE(plan) << describe(plan.error());
  EXPECT_EQ(words(*plan).find("/data"), std::string::npos);
}

TEST(Wasi, NothingButAModuleIsRun) {
  const std::pair<Command, std::string> cases[] = {
      {{.argv = {"ls"}}, "profile 'wasi' runs WebAssembly modules, and 'ls' is not named as one"},
      {{.argv = {"/bin/sh", "m.wasm"}}, "profile 'wasi' runs WebAssembly modules, and '/bin/sh' is not named as one"},
      {{.argv = {"/secret/m.wasm"}}, "the module '/secret/m.wasm' lies outside of what the policy lets a command read"},
      {{.argv = {"../m.wasm"}}, "the module '/m.wasm' lies outside of what the policy lets a command read"},
  };
  for (const auto& [command, message] : cases) {
    const auto plan = make_plan(policy(), command, host({"wasmtime"}));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().message, message);
  }
}

TEST(Wasi, WithoutARuntimeOrASandboxNothingRuns) {
  EXPECT_EQ(make_plan(policy(), module, host({})).error().message,
            "profile 'wasi' needs a runtime for modules, and none works on this host");
  EXPECT_EQ(make_plan(policy(), module, host({"node"}), {.wasi_runtime = "wasmer"}).error().message,
            "the WASI runtime 'wasmer' does not work on this host");
  EXPECT_EQ(make_plan(policy(), module, host({"node"}), {.wasi_runtime = "wasm9"}).error().message,
            "'wasm9' is no WASI runtime Harn knows");
  EXPECT_EQ(make_plan(policy(), module, host({"node"}), {.no_sandbox = true}).error().message,
            "profile 'wasi' runs a module's runtime inside a sandbox, and the sandbox is switched off");
  auto broken = host({"node"});
  broken.tools["node"] = {.path = AbsPath::of("/usr/bin/node"), .why_not = "it fails"};
  EXPECT_EQ(make_plan(policy(), module, broken).error().message,
            "profile 'wasi' needs a runtime for modules, and none works on this host (node: it fails)");
  auto nothing = host({"node"});
  nothing.linux = {};
  for (const auto fallback : {Fallback::off, Fallback::warn, Fallback::enforce}) {
    const auto plan = make_plan(policy(), module, nothing, {.fallback = fallback});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->route, Route::refused) << "a runtime is no boundary by itself";
  }
  auto bare = policy();
  bare.process_sandbox.presets.emplace();
  EXPECT_EQ(make_plan(bare, module, host({"node"})).error().message,
            "the policy does not let a command execute the runtime '/usr/bin/node'");
}

TEST(Wasi, ContainersAreNotGivenAModule) {
  auto facts = host({"node"});
  facts.tools["docker"] = {.path = AbsPath::of("/usr/bin/docker"), .works = true, .limits = true};
  const auto plan = make_plan(policy(), module, facts, {.backend = Backend::docker});
  ASSERT_FALSE(plan);
}

TEST(Wasi, WhatARuntimeCannotBeToldIsRefused) {
  auto odd = policy();
  odd.workspace_roots = std::vector<AbsPath>{AbsPath::of("/p"), AbsPath::of("/a:b")};
  EXPECT_NE(make_plan(odd, module, host({"wasmedge"})).error().message.find("wasmedge cannot be told about the directory '/a:b'"),
            std::string::npos);
  EXPECT_TRUE(make_plan(odd, module, host({"node"})));
  EXPECT_TRUE(make_plan(odd, module, host({"wasmtime"})));
  // Where two separators would follow each other, the first one counts.
  odd.workspace_roots = std::vector<AbsPath>{AbsPath::of("/p"), AbsPath::of("/a:")};
  EXPECT_FALSE(make_plan(odd, module, host({"wasmtime"})));
  EXPECT_FALSE(make_plan(odd, module, host({"iwasm"})));
  auto facts = host({"wasmedge"});
  facts.paths["/data"] = {.kind = PathKind::file};
  EXPECT_EQ(make_plan(policy(), module, facts).error().message, "a module is given directories, and '/data' is a single file");
  EXPECT_FALSE(make_plan(policy(), {.argv = {"m.wasm", "\xff"}}, host({"node"})));
  EXPECT_TRUE(make_plan(policy(), {.argv = {"m.wasm", "\xff"}}, host({"wasmtime"})));
}

}  // namespace
}  // namespace harn
