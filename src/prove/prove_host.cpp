// SPDX-License-Identifier: Apache-2.0
// The order matters: each mechanism is tried alone, then all that work together.
#include "harn/prove.h"

#include <sys/prctl.h>

#include <optional>
#include <string_view>

#include "prove/facts_cache.h"
#include "prove/facts_key.h"
#include "prove/mechanisms.h"
#include "run/stop_tree.h"

namespace harn {
namespace {

// Wrappers leave processes behind that nobody waits for: they come to us and are ended here.
class OrphansEnded {
 public:
  OrphansEnded() {
    ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~OrphansEnded() {
    run::end_descendants();
    ::prctl(PR_SET_CHILD_SUBREAPER, before_);
  }
  OrphansEnded(const OrphansEnded&) = delete;
  OrphansEnded& operator=(const OrphansEnded&) = delete;

 private:
  int before_ = 0;
};

constexpr auto left_behind = "it can leave processes behind, and inside another program nobody collects them";

bool leaves_processes(std::string_view tool, Inside inside) { return inside == Inside::other_program && tool == "firejail"; }

// Less is proved inside another program, so that is remembered apart.
prove::FactsKey key_for(const HostFacts& facts, Inside inside) {
  auto key = prove::facts_key(facts);
  if (inside == Inside::other_program) key.whole += " inside another program";
  return key;
}

bool take_kept(HostFacts& facts, const AbsPath& directory, Inside inside) {
  // Whatever the program itself proved holds here too.
  auto kept = prove::load_facts(directory, key_for(facts, Inside::own_program));
  if (!kept && inside == Inside::other_program) kept = prove::load_facts(directory, key_for(facts, inside));
  if (!kept) return false;
  facts.linux = std::move(kept->linux);
  facts.tools = std::move(kept->tools);
  for (auto& [name, tool] : facts.tools) {
    if (!leaves_processes(name, inside)) continue;
    tool.works = false;
    tool.why_not = left_behind;
  }
  return true;
}

}  // namespace

Result<ProvedHost> prove_host(const HostFacts& claimed, Inside inside) {
  std::optional<OrphansEnded> orphans_ended;
  if (inside == Inside::own_program) orphans_ended.emplace();
  HARN_TRY(ground, prove::ProvingGround::make(claimed));
  ProvedHost proved{.linux = {.kernel = claimed.linux.kernel, .arch = claimed.linux.arch}, .tools = claimed.tools};
  auto& facts = proved.linux;
  for (auto* mechanism : {prove::prove_seccomp, prove::prove_view, prove::prove_network_namespace, prove::prove_landlock,
                          prove::prove_seccomp_notify, prove::prove_cgroup, prove::prove_together})
    proved.findings.push_back(mechanism(ground, facts));
  for (auto& [name, tool] : proved.tools) {
    if (!leaves_processes(name, inside)) {
      proved.findings.push_back(prove::prove_wrapper(ground, name, facts, tool));
      continue;
    }
    tool.works = false;
    tool.why_not = left_behind;
    proved.findings.push_back({.mechanism = name, .why_not = left_behind});
  }
  return proved;
}

void remember_facts(const HostFacts& claimed, const ProvedHost& proved, const AbsPath& directory) {
  prove::keep_facts(directory, prove::facts_key(claimed), {.linux = proved.linux, .tools = proved.tools});
}

Status settle_facts(HostFacts& facts, const AbsPath& directory, Inside inside) {
  if (take_kept(facts, directory, inside)) return {};
  const auto key = key_for(facts, inside);
  auto proved = prove_host(facts, inside);
  if (!proved) {
    facts.linux = {.kernel = facts.linux.kernel, .arch = facts.linux.arch, .why_no_user_namespaces = proved.error().message};
    for (auto& [name, tool] : facts.tools) {
      tool.works = false;
      tool.why_not = proved.error().message;
    }
    return fail(std::move(proved).error());
  }
  facts.linux = std::move(proved->linux);
  facts.tools = std::move(proved->tools);
  prove::keep_facts(directory, key, facts);
  return {};
}

}  // namespace harn
