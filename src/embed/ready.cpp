// SPDX-License-Identifier: Apache-2.0
#include "embed/ready.h"

#include <cerrno>

#include "base/text.h"
#include "harn/probe.h"
#include "host/resolve_paths.h"
#include "sys/files.h"

namespace harn::embed {

HostFacts seen_facts(const Standing& standing) {
  Environment read_there;
  for (const auto* name : {"HOME", "PATH", "TMPDIR"})
    if (const auto found = standing.environment.find(name); found != standing.environment.end()) read_there.insert(*found);
  return probe_host({.environment = std::move(read_there), .cwd = standing.cwd, .kernel_claims = false, .os_name = false});
}

Result<HostFacts> proved_facts(const Standing& standing, bool confining) {
  auto facts = seen_facts(standing);
  if (auto settled = settle_facts(facts, facts_directory(standing.environment), standing.inside); !settled && confining) {
    auto error = std::move(settled).error();
    error.message = "what this host can enforce could not be tried: " + error.message;
    if (error.os_error != ECHILD)
      error.hint = "make room for temporary files or set TMPDIR to a directory you can write; --no-sandbox runs it unconfined";
    return fail(std::move(error));
  }
  const auto pretended = standing.environment.find("HARN_PRETEND");
  if (pretended != standing.environment.end()) HARN_OK(pretend(facts, pretended->second));
  return facts;
}

Status settle_named_engine(HostFacts& facts, const PlanOptions& options, const Environment& environment, const std::string& image) {
  const bool container = options.backend == Backend::docker || options.backend == Backend::podman;
  if (!container || options.no_sandbox) return {};
  return settle_engine(facts,
                       {.backend = *options.backend, .environment = environment, .image = image, .place = state_directory(environment)},
                       facts_directory(environment));
}

void settle_wasi_runtime(HostFacts& facts, const Policy& policy, const PlanOptions& options, const Environment& environment) {
  if (policy.profile() != Profile::wasi || options.no_sandbox) return;
  settle_wasi(facts, options.wasi_runtime, facts_directory(environment));
}

Looked look_at_host(HostFacts& facts, Policy& policy, const Environment& environment) {
  Looked looked;
  looked.warnings = look_at_paths(facts, policy);
  looked.rules = PathRules::for_processes(policy, facts);
  // In its usual place it is closed as a credential.
  auto place = audit_directory(environment);
  if (auto real = sys::real_path(place)) place = std::move(*real);
  else if (auto led = host::resolve_links(place)) place = std::move(*led);
  if (!looked.rules.decide(place, FileOp::read).allowed || !sys::make_directories(place)) return looked;
  policy.process_sandbox.read_deny_roots.push_back(place);
  looked.warnings = look_at_paths(facts, policy);
  looked.rules = PathRules::for_processes(policy, facts);
  return looked;
}

std::optional<AbsPath> make_canary(const Environment& environment) {
  auto file = ensure_canary(state_directory(environment));
  if (!file) return std::nullopt;
  return std::move(*file);
}

}  // namespace harn::embed
