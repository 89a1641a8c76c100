// SPDX-License-Identifier: Apache-2.0
// What this host can really enforce: every mechanism is tried in a child, with the code a run uses,
// and must refuse what it is there to refuse. A kernel's version or a program's presence proves nothing.
//
//   HostFacts facts = probe_host({.environment = env, .cwd = cwd});
//   HARN_OK(settle_facts(facts, facts_directory(runtime, state)));  // proved once per boot, then remembered
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harn/host.h"
#include "harn/plan.h"
#include "harn/result.h"

namespace harn {

// How one mechanism did. Exactly one of `how` and `why_not` says why `works` is what it is.
struct Finding {
  std::string mechanism = {};  // "view" "network_namespace" "landlock" "seccomp" "seccomp_notify" "cgroup" "bubblewrap" "firejail" …
  bool works = false;
  std::string how = {};      // what was tried, and what was seen
  std::string why_not = {};  // what failed, with the system's own word
  std::string remedy = {};   // what would make it work; may be empty

  bool operator==(const Finding&) const = default;
};

struct ProvedHost {
  LinuxFacts linux = {};
  std::map<std::string, Tool> tools = {};
  std::vector<Finding> findings = {};

  bool operator==(const ProvedHost&) const = default;
};

// Whose program this code runs in.
enum class Inside : std::uint8_t {
  own_program,    // without other children: whatever a tried program leaves behind is found as a descendant, and ended
  other_program,  // its children are not ours to touch, so firejail, which leaves processes behind, counts as unusable
};

// Starts children and takes a fraction of a second; leaves nothing behind. `claimed` is what
// probe_host() found. An error means that nothing could be tried at all.
Result<ProvedHost> prove_host(const HostFacts& claimed, Inside inside = Inside::own_program);

// Where proved facts are remembered: in the user's runtime directory, which ends with the session, where
// there is one that is this user's alone; else in the state directory.
AbsPath facts_directory(const std::optional<AbsPath>& runtime, const AbsPath& state);

// Puts what was proved in place of what was claimed. Remembered in `directory` until the next boot,
// or until something it depends on changes; only its owner may have written there. Where nothing can
// be tried, nothing is believed, and that is an error: a full disk must not look like a kernel that
// cannot confine.
Status settle_facts(HostFacts& facts, const AbsPath& directory, Inside inside = Inside::own_program);

// A container engine, named by who wants it.
struct EngineRequest {
  Backend backend = Backend::docker;
  std::map<std::string, std::string> environment = {};  // the caller's: it says which engine
  std::string image = {};                               // must be there already
  AbsPath place = {};                                   // for private files, where the engine sees them
};

// Fills in the engine's version and whether it limits what it is told to limit. An error says in one
// sentence what is missing: the daemon, the image, the right to use it. Remembered like other facts;
// never called for runs that name no engine.
Status settle_engine(HostFacts& facts, const EngineRequest& request, const AbsPath& directory);

// Looks for the runtimes of WebAssembly modules and runs a module in the first that works, or in the one that is named, confined as
// a real one would be. Remembered like other facts; never called for runs that are no modules.
void settle_wasi(HostFacts& facts, const std::string& named, const AbsPath& directory);

// Remembers what was just proved, in place of whatever was remembered before.
void remember_facts(const HostFacts& claimed, const ProvedHost& proved, const AbsPath& directory);

// HARN_PRETEND: "landlock=3,userns=no". Takes mechanisms away, never adds one; a typo is an error.
// What was taken is said in the host's name, and so in plans and receipts.
Status pretend(HostFacts& facts, std::string_view text);

}  // namespace harn
