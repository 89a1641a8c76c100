// SPDX-License-Identifier: Apache-2.0
#include "plan/wasi/lower_wasi.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "plan/wasi/runtimes.h"
#include "policy/env_rules.h"

namespace harn::plan {
namespace {

std::unexpected<Error> wrong(ErrorCode code, std::string message, std::string hint) {
  return fail(Error{.code = code, .stage = Stage::plan, .message = std::move(message), .hint = std::move(hint)});
}

struct Found {
  const WasiRuntime* runtime = nullptr;
  const Tool* tool = nullptr;
};

std::string names_of_all() {
  std::vector<std::string> names;
  for (const auto& runtime : wasi_runtimes()) names.emplace_back(runtime.name);
  return base::join(names, ", ");
}

Result<Found> find_runtime(const HostFacts& facts, const std::string& named) {
  std::vector<std::string> tried;
  bool known = named.empty();
  for (const auto& runtime : wasi_runtimes()) {
    if (!named.empty() && named != runtime.name) continue;
    known = true;
    const auto tool = facts.tools.find(std::string(runtime.name));
    if (tool == facts.tools.end()) continue;
    if (tool->second.works) return Found{&runtime, &tool->second};
    tried.push_back(fmt::format("{}: {}", runtime.name, tool->second.why_not));
  }
  if (!known)
    return wrong(ErrorCode::not_supported, fmt::format("{} is no WASI runtime Harn knows", base::quoted(named)), "use " + names_of_all());
  auto message = named.empty() ? std::string("profile 'wasi' needs a runtime for modules, and none works on this host")
                               : fmt::format("the WASI runtime {} does not work on this host", base::quoted(named));
  if (!tried.empty()) message += " (" + base::join(tried, "; ") + ")";
  return wrong(ErrorCode::not_available, std::move(message),
               (named.empty() ? "" : "unset HARN_WASI_RUNTIME, or ") + fmt::format("install one of {}", names_of_all()));
}

Result<AbsPath> module_of(const PlanInput& input, const AbsPath& cwd) {
  const auto& word = input.command.argv.front();
  if (!word.ends_with(".wasm"))
    return wrong(ErrorCode::invalid_command,
                 fmt::format("profile 'wasi' runs WebAssembly modules, and {} is not named as one", base::quoted(word)),
                 "name a .wasm file; profile 'worktree' or 'os_hardened' runs a native command confined");
  auto absolute = AbsPath::parse(word);
  HARN_TRY(module, absolute ? std::move(absolute) : AbsPath::parse(cwd.text() + "/" + word));
  if (input.rules.decide(module, FileOp::read).allowed) return module;
  return wrong(ErrorCode::refused,
               fmt::format("the module {} lies outside of what the policy lets a command read", base::quoted(module.text())),
               fmt::format("add --read {}", base::shell_word(module.parent().text())));
}

// What the policy names as directories for work; what only a native program would need is not the module's.
Result<std::vector<Preopen>> preopens_of(const PlanInput& input, const AbsPath& cwd, const WasiRuntime& runtime) {
  std::vector<Preopen> out;
  const auto add = [&](std::string guest, const AbsPath& host) {
    const bool there = input.facts.kind_of(host) == PathKind::directory && input.rules.decide(host, FileOp::read).allowed;
    const bool known = std::ranges::any_of(out, [&](const Preopen& seen) { return seen.guest == guest; });
    if (there && !known)
      out.push_back({.guest = std::move(guest), .host = host, .writable = input.rules.decide(host, FileOp::write).allowed});
  };
  add(".", cwd);  // what relative names refer to
  const auto& policy = input.policy;
  for (const auto* roots :
       {&policy.workspace_roots, &policy.read_only_roots, &policy.process_sandbox.write_roots, &policy.process_sandbox.read_roots})
    for (const auto& root : entries(*roots)) {
      if (input.facts.kind_of(root) == PathKind::file)
        return wrong(ErrorCode::not_supported,
                     fmt::format("a module is given directories, and {} is a single file", base::quoted(root.text())),
                     fmt::format("name its directory ({}), or lay the file into the project", base::shell_word(root.parent().text())));
      add(root.text(), root);
    }
  // Also where a name only ends like it: the first of two separators is what counts.
  const auto splits_elsewhere = [&](const std::string& name) {
    return !runtime.separator.empty() && (name + std::string(runtime.separator)).find(runtime.separator) != name.size();
  };
  for (const auto& preopen : out)
    if (splits_elsewhere(preopen.host.text()) || splits_elsewhere(preopen.guest))
      return wrong(ErrorCode::not_supported,
                   fmt::format("{} cannot be told about the directory {}: it reads '{}' as the end of a name", runtime.name,
                               base::quoted(preopen.host.text()), runtime.separator),
                   "use another runtime (HARN_WASI_RUNTIME), or a directory without it");
  return out;
}

using Names = std::initializer_list<std::pair<std::string_view, std::string_view>>;

void add_words(std::vector<std::string>& words, std::span<const std::string_view> shapes, const Names& names) {
  for (const auto shape : shapes) {
    std::string word;
    for (std::size_t at = 0; at < shape.size();) {
      const auto* found = std::ranges::find_if(names, [&](const auto& entry) { return shape.substr(at).starts_with(entry.first); });
      word += found == names.end() ? shape.substr(at, 1) : found->second;
      at += found == names.end() ? 1 : found->first.size();
    }
    words.push_back(std::move(word));
  }
}

// Everything Node is told, in one word.
std::string description(const WasiPlan& wasi) {
  base::Value preopens(base::Object{});
  for (const auto& preopen : wasi.preopens) preopens.set(preopen.guest, preopen.host.text());
  base::Value out;
  out.set("module", wasi.module.text());
  out.set("name", wasi.argv.front());
  out.set("preopens", std::move(preopens));
  return base::print_json(out);
}

// Text in JSON, and text in Node, is UTF-8.
Status check_text(const WasiPlan& wasi) {
  const auto is_text = [](const std::string& word) { return base::valid_utf8(word); };
  if (std::ranges::all_of(wasi.argv, is_text) &&
      std::ranges::all_of(wasi.preopens, [&](const Preopen& p) { return is_text(p.host.text()); }))
    return {};
  return wrong(ErrorCode::not_supported, "node cannot be given words or directories that are not UTF-8",
               "use another runtime (HARN_WASI_RUNTIME)");
}

}  // namespace

Result<WasiRun> lower_wasi(const PlanInput& input, const std::string& named) {
  const auto cwd = input.command.cwd.value_or(input.facts.cwd);
  HARN_TRY(module, module_of(input, cwd));
  HARN_TRY(found, find_runtime(input.facts, named));
  const auto& runtime = *found.runtime;
  if (!input.rules.decide(found.tool->path, FileOp::execute).allowed)
    return wrong(ErrorCode::refused,
                 fmt::format("the policy does not let a command execute the runtime {}", base::quoted(found.tool->path.text())),
                 "open it with the preset system_runtime, or with --read");
  WasiRun out{.policy = input.policy, .command = input.command};
  out.wasi = {.runtime = std::string(runtime.name), .module = std::move(module), .argv = input.command.argv};
  HARN_TRY(preopens, preopens_of(input, cwd, runtime));
  out.wasi.preopens = std::move(preopens);

  auto variables = policy::apply_env_rules(input.policy.env, input.command.environment);
  for (auto& gone : variables.removed) out.removed.push_back({std::move(gone.name), std::move(gone.why)});
  // The runtime itself gets nothing that could tell it to load or to do something else.
  out.policy.env = {.mode = EnvMode::replace};
  out.command.environment.clear();
  auto& words = out.command.argv = {found.tool->path.text()};
  add_words(words, runtime.options, {});
  if (runtime.described) {
    HARN_OK(check_text(out.wasi));
    for (auto& [name, value] : variables.variables) out.policy.env.set[std::string(guest_prefix) + name] = value;
    words.push_back(description(out.wasi));
  } else {
    for (const auto& preopen : out.wasi.preopens)
      add_words(words, preopen.writable || runtime.read_only.empty() ? runtime.preopen : runtime.read_only,
                {{"{guest}", preopen.guest}, {"{host}", preopen.host.text()}});
    for (const auto& [name, value] : variables.variables) add_words(words, runtime.variable, {{"{name}", name}, {"{value}", value}});
    words.push_back(out.wasi.module.text());
  }
  if (input.command.argv.size() > 1) add_words(words, runtime.before_arguments, {});
  words.insert(words.end(), input.command.argv.begin() + 1, input.command.argv.end());
  return out;
}

void cover_wasi(const WasiPlan& wasi, Plan& plan) {
  const auto runtimes = wasi_runtimes();
  const auto runtime = std::ranges::find(runtimes, wasi.runtime, &WasiRuntime::name);
  if (runtime == runtimes.end() || !runtime->boundary) {
    plan.notes.push_back(fmt::format(
        "{} is no boundary of its own: a module can follow a link to whatever the runtime may read, and only the sandbox confines it",
        wasi.runtime));
    return;
  }
  for (const auto dimension : {Dimension::reads, Dimension::writes, Dimension::credential_reads, Dimension::signals,
                               Dimension::process_inspection, Dimension::devices}) {
    auto& entry = plan.coverage[dimension];
    if (entry.status == Enforcement::enforced || entry.status == Enforcement::degraded) entry.layers.emplace_back("wasi");
  }
}

}  // namespace harn::plan
