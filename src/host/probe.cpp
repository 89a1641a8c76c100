// SPDX-License-Identifier: Apache-2.0
// This machine as HostFacts. Directories are resolved so that "~" and a workspace beneath the real
// home compare as what they are: a credential denial must hold under every spelling.
#include "harn/probe.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "host/git_layout.h"
#include "host/listings.h"
#include "host/resolve_paths.h"
#include "host/system_facts.h"
#include "policy/path_model.h"
#include "policy/presets.h"
#include "sys/files.h"

namespace harn {
namespace {

constexpr std::size_t most_entries = 4096;
constexpr std::size_t most_nested_repositories = 32;  // each takes several rules

AbsPath resolved(const AbsPath& path) {
  auto real = host::resolve_existing(path);
  if (!real) return path;
  return std::move(*real);
}

std::optional<AbsPath> path_variable(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  auto path = AbsPath::parse(found->second);
  if (!path) return std::nullopt;
  return std::move(*path);
}

bool is_system_directory(const AbsPath& path) {
  return std::ranges::any_of(std::initializer_list<const char*>{"/usr", "/bin", "/sbin", "/opt", "/nix/store"},
                             [&](const char* top) { return AbsPath::of(top).contains(path); });
}

std::vector<AbsPath> search_path(const std::map<std::string, std::string>& environment) {
  std::vector<AbsPath> entries;
  const auto found = environment.find("PATH");
  if (found == environment.end()) return entries;
  for (const auto text : base::split(found->second, ':')) {
    const auto entry = AbsPath::parse(text);
    if (!entry || sys::target_type_of(*entry) != sys::FileType::directory) continue;
    auto real = resolved(*entry);
    // A link on the way may have been planted by an earlier run, to have its target opened.
    if (real != *entry && !is_system_directory(real)) continue;
    if (std::ranges::find(entries, real) == entries.end()) entries.push_back(std::move(real));
  }
  return entries;
}

// Where most of the paths lie that plans ask about.
host::Listings list_crowded_places(const Policy& policy, const HostFacts& facts) {
  host::Listings listings;
  listings.add(AbsPath::of("/"));
  const auto add_home = [&](const AbsPath& home) {
    listings.add(home);
    if (const auto config = home.join(".config"); listings.look(config) == PathFact{.kind = PathKind::directory}) listings.add(config);
  };
  add_home(facts.home);
  if (facts.account_home) add_home(*facts.account_home);
  for (const auto& root : entries(policy.workspace_roots)) listings.add(root);
  return listings;
}

// A rule about a link is a rule about what it leads to, and that one has to be known to exist.
void look_at_link_targets(HostFacts& facts) {
  std::vector<AbsPath> targets;
  for (const auto& [path, fact] : facts.paths)
    if (fact.link_target) targets.push_back(*fact.link_target);
  for (const auto& target : targets) facts.paths.try_emplace(target.text(), host::look_at(target));
}

// Other object stores of a repository stay closed until somebody opens them by name.
void tell_alternates(const GitLayout& git, const Policy& policy, std::vector<std::string>& notes) {
  const policy::PathModel model(policy);
  for (const auto& store : git.alternates)
    if (model.value(store.text()).process < policy::Ruled::read)
      notes.push_back(fmt::format("the repository {} keeps objects in {}, which stays closed: --read {} opens it",
                                  base::quoted(git.common_dir.text()), base::quoted(store.text()), base::shell_word(store.text())));
}

void guard_beneath(const AbsPath& git_dir, HostFacts& facts) {
  for (auto& path : host::trusted_beneath(git_dir)) facts.guarded.push_back(std::move(path));
}

// Repositories directly inside a root: deeper ones would cost a walk through everything.
void add_nested_repositories(const AbsPath& root, const host::Listings& listings, HostFacts& facts, std::vector<std::string>& notes) {
  std::size_t found = 0;
  const auto directories = listings.directories_in(root);
  if (!directories && host::look_at(root).kind == PathKind::directory)
    notes.push_back(fmt::format("{} cannot be searched for repositories: the hooks and configuration of those inside are ordinary files",
                                base::quoted(root.text())));
  for (const auto& directory : directories.value_or(std::vector<AbsPath>())) {
    auto layout = host::find_nested_repository(directory);
    if (!layout) continue;
    // An earlier command may have made the many to have one forgotten.
    if (++found > most_nested_repositories) facts.guarded.push_back(layout->git_dir);
    else {
      guard_beneath(layout->git_dir, facts);
      facts.git.push_back(std::move(*layout));
    }
  }
  if (found > most_nested_repositories)
    notes.push_back(fmt::format("{} holds more than {} repositories: the git directories of the others are read-only",
                                base::quoted(root.text()), most_nested_repositories));
}

// What a protected link leads to is protected too, unless that would close a writable root.
void tell_links_upwards(const HostFacts& facts, const Policy& policy, std::vector<std::string>& notes) {
  const auto roots = policy::PathModel(policy).writable_roots();
  for (const auto& root : roots)
    for (const auto& entry : policy::protected_names()) {
      const auto name = root.join(entry.name);
      const auto found = facts.paths.find(name.text());
      if (found == facts.paths.end() || !found->second.link_target) continue;
      const auto& target = *found->second.link_target;
      if (std::ranges::any_of(roots, [&](const AbsPath& each) { return target.contains(each); }))
        notes.push_back(fmt::format("{} leads to {}, which holds a writable root: what is there is not protected",
                                    base::quoted(name.text()), base::quoted(target.text())));
    }
}

}  // namespace

std::optional<AbsPath> home_directory(const std::map<std::string, std::string>& environment) {
  auto named = path_variable(environment, "HOME");
  return named ? named : host::account_home(::geteuid());
}

AbsPath find_project_root(const AbsPath& start) {
  for (auto at = start;; at = at.parent()) {
    if (sys::is_entitled_file(at.join("harn.toml"))) return at;
    if (at.is_root()) return start;
  }
}

HostFacts probe_host(const ProbeRequest& request) {
  HostFacts facts;
  facts.name = "this host";
  facts.uid = ::geteuid();
  facts.gid = ::getegid();
  facts.home = resolved(home_directory(request.environment).value_or(AbsPath::of("/nonexistent")));
  if (const auto account = host::account_home(facts.uid); account && resolved(*account) != facts.home)
    facts.account_home = resolved(*account);
  facts.temp = resolved(path_variable(request.environment, "TMPDIR").value_or(AbsPath::of("/tmp")));
  facts.cwd = resolved(request.cwd);
  facts.project_root = request.project_root ? resolved(*request.project_root) : find_project_root(facts.cwd);
  facts.search_path = search_path(request.environment);
  host::add_system_facts(request, facts);
  return facts;
}

std::vector<std::string> look_at_paths(HostFacts& facts, const Policy& policy) {
  const auto rooted = with_project_root(policy, facts.project_root);
  std::vector<std::string> notes;
  facts.git.clear();
  facts.guarded.clear();
  facts.paths.clear();
  const auto listings = list_crowded_places(rooted, facts);
  for (const auto& root : *rooted.workspace_roots) {
    auto finding = host::find_git_layout(root);
    if (finding.layout) tell_alternates(*finding.layout, rooted, notes);
    if (finding.layout) facts.git.push_back(std::move(*finding.layout));
    if (!finding.note.empty()) notes.push_back(std::move(finding.note));
    guard_beneath(root.join(".git"), facts);
    add_nested_repositories(root, listings, facts, notes);
  }
  for (const auto& path : paths_of_interest(rooted, facts, [&](std::string_view text) { return listings.known_absent(text); })) {
    auto fact = listings.look(path);
    // What is taken to be missing anyway needs no entry.
    if (fact.kind != PathKind::missing || facts.unlisted != PathKind::missing) facts.paths[path.text()] = std::move(fact);
  }
  look_at_link_targets(facts);
  tell_links_upwards(facts, rooted, notes);
  // Landlock alone must write a directory with something denied inside as its entries; a view need not.
  if (facts.platform != Platform::linux || facts.linux.user_namespaces) return notes;
  for (const auto& directory : directories_to_list(PathRules::for_processes(rooted, facts))) {
    auto names = sys::list_directory(directory, most_entries);
    auto& fact = facts.paths.try_emplace(directory.text(), host::look_at(directory)).first->second;
    if (!names) continue;
    fact.entries = std::move(*names);
    // An entry that is a link must be known as one, or its target would be opened in its place.
    const auto entries = *fact.entries;
    for (const auto& name : entries) {
      const auto entry = directory.join(name);
      if (auto seen = host::look_at(entry); seen.link_target) facts.paths.try_emplace(entry.text(), std::move(seen));
    }
  }
  return notes;
}

}  // namespace harn
