// SPDX-License-Identifier: Apache-2.0
// Runtimes of WebAssembly modules are tried only for who runs modules: once per boot a small module is run, confined as a real one
// would be, and must find what it was given and nothing beside it.
#include <chrono>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/probe.h"
#include "harn/prove.h"
#include "harn/sandbox.h"
#include "host/programs.h"
#include "plan/wasi/runtimes.h"
#include "prove/facts_cache.h"
#include "prove/wasi_probe.h"
#include "sys/files.h"
#include "sys/own_directory.h"

namespace harn {
namespace {

constexpr std::chrono::seconds patience{30};

std::optional<AbsPath> find_program(std::string_view program) {
  for (const auto directory : host::program_directories()) {
    auto path = AbsPath::of(directory).join(program);
    if (!sys::is_executable(path)) continue;
    // A link in a searched directory may lead anywhere; what is executed is its end.
    auto real = sys::real_path(path);
    return real ? std::move(*real) : std::move(path);
  }
  return std::nullopt;
}

// An error says why the runtime is of no use.
Status try_runtime(const HostFacts& facts, const std::string& name, const AbsPath& program) {
  HARN_TRY(ground, sys::OwnDirectory::make(facts.temp, "harn-wasi-"));
  const auto work = ground.path().join("work");
  const auto module = work.join("probe.wasm");
  HARN_OK(sys::make_directories(work));
  HARN_OK(sys::replace_file(ground.path().join("outside"), "closed\n"));
  HARN_OK(sys::replace_file(work.join("inside"), "open\n"));
  HARN_OK(sys::replace_file(module, std::string_view(reinterpret_cast<const char*>(prove::wasi_probe), sizeof prove::wasi_probe)));
  auto there = facts;
  there.tools = {{name, {.path = program, .works = true}}};
  there.cwd = there.project_root = work;
  Policy policy{.sandbox_profile = Profile::wasi, .workspace_roots = {{work}}};
  policy.limits.wall_time = patience;
  look_at_paths(there, policy);
  HARN_TRY(plan, make_plan(policy, {.argv = {module.text()}}, there, {.wasi_runtime = name}));
  HARN_TRY(outcome, run_plan(plan, {.streams = {Stream::empty, Stream::capture, Stream::capture}, .receipt = false}));
  if (outcome.exit_code == prove::probe_exit_code) return {};
  const auto said = base::one_line(base::trim(outcome.captured_stderr.value_or("")));
  return fail(Error{.code = ErrorCode::not_available,
                    .stage = Stage::prepare,
                    .message = fmt::format("a module run in it ended with {} and not with {}{}", outcome.exit_code, prove::probe_exit_code,
                                           said.empty() ? "" : ": " + said.substr(0, 200))});
}

Tool settled(const HostFacts& facts, const std::string& name, const AbsPath& program, const AbsPath& directory) {
  auto claimed = facts;
  claimed.tools = {{name, {.path = program}}};
  auto key = prove::facts_key(claimed);  // the program's own identity is part of it
  key.whole += fmt::format("wasi {} userns {} landlock {} seccomp {}\n", name, facts.linux.user_namespaces, facts.linux.landlock_abi,
                           facts.linux.seccomp);
  if (auto kept = prove::load_facts(directory, key); kept && kept->tools.contains(name)) return kept->tools.at(name);
  Tool tool{.path = program, .works = true};
  if (const auto tried = try_runtime(facts, name, program); !tried) {
    tool.works = false;
    tool.why_not = tried.error().message;
  }
  prove::keep_facts(directory, key, {.tools = {{name, tool}}});
  return tool;
}

}  // namespace

void settle_wasi(HostFacts& facts, const std::string& named, const AbsPath& directory) {
  for (const auto& runtime : plan::wasi_runtimes()) {
    const std::string name(runtime.name);
    if (!named.empty() && named != name) continue;
    const auto program = find_program(runtime.program);
    if (!program) continue;
    const auto& tool = facts.tools[name] = settled(facts, name, *program, directory);
    if (tool.works) return;
  }
}

}  // namespace harn
