// SPDX-License-Identifier: Apache-2.0
#include "policy/path_candidates.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "policy/kinds.h"
#include "policy/near_credentials.h"
#include "policy/path_model.h"

namespace harn::policy {
namespace {

constexpr std::string_view resolver_file = "/etc/resolv.conf";

bool before(const Candidate& a, const Candidate& b) { return a.path < b.path; }

// Of equal access the earlier origin stays, so that the order of collecting does not matter.
Opened stronger(Opened a, Opened b) {
  if (a.access != b.access) return a.access > b.access ? a : b;
  return a.origin < b.origin ? a : b;
}

void unite_equal(std::vector<Candidate>& sorted) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    auto& last = sorted[kept];
    if (sorted[i].path == last.path) {
      last.said = last.said | sorted[i].said;
      last.opened = stronger(last.opened, sorted[i].opened);
    } else if (++kept != i) {
      sorted[kept] = std::move(sorted[i]);
    }
  }
  if (!sorted.empty()) sorted.resize(kept + 1);
}

class Collector {
 public:
  Collector(const Policy& policy, const HostFacts& facts, CandidateScope scope, const KnownAbsent& known_absent)
      : policy_(policy),
        facts_(facts),
        scope_(scope),
        known_absent_(known_absent),
        kinds_(facts),
        tokens_(for_processes() && policy.exposes_package_tokens()) {
    for (const auto& [path, fact] : facts.paths)
      if (fact.link_target) links_.push_back({path, &*fact.link_target});
  }

  std::vector<Candidate> run() && {
    add_lists();
    if (for_processes()) {
      add_presets();
      add_devices();
    }
    add_git();
    add_credentials();
    add_protected();
    return in_order();
  }

 private:
  struct Link {
    std::string_view path;
    const AbsPath* target;
  };

  bool for_processes() const { return scope_ != CandidateScope::file_operations; }
  bool present(std::string_view path) {
    return scope_ == CandidateScope::whole_host ? !absent(path) : kinds_.at(path) != PathKind::missing;
  }
  bool absent(std::string_view path) const { return known_absent_ && known_absent_(path); }

  // Few paths are links, so asking each path costs little.
  const AbsPath* link_target(std::string_view path) const {
    const auto it = std::ranges::lower_bound(links_, path, {}, &Link::path);
    return it != links_.end() && it->path == path ? it->target : nullptr;
  }

  void say(AbsPath path, Said said) { found_.push_back({.path = std::move(path), .said = said}); }

  // A planted link to a place above a root would close the root itself.
  void cap(AbsPath path) {
    for (std::size_t i = 0; i < roots_; ++i)
      if (path.contains(found_[i].path)) return;
    say(std::move(path), Said::capped);
  }

  AbsPath spelled(AbsPath path) const {
    return facts_.platform == Platform::macos ? real_spelling(facts_.platform, path) : std::move(path);
  }

  void open(AbsPath path, Access access, Origin origin) {
    found_.push_back({.path = spelled(std::move(path)), .opened = {access, origin}});
  }

  void add_lists() {
    const auto& sandbox = policy_.process_sandbox;
    const auto add = [&](const std::vector<AbsPath>& list, Said said) {
      for (const auto& path : list) say(path, said);
    };
    found_.reserve(256);
    add(entries(policy_.workspace_roots), Said::workspace);
    add(entries(sandbox.write_roots), Said::process_write);
    roots_ = found_.size();
    add(entries(policy_.read_only_roots), Said::read_only);
    add(entries(sandbox.read_roots), Said::process_read);
    add(sandbox.read_deny_roots, Said::deny);
    add(entries(policy_.unprotect), Said::unprotect);
  }

  void add_presets() {
    // A recursive ACL change per spawn is too dear to make without being asked.
    if (facts_.platform == Platform::windows && !policy_.names_presets()) return;
    const auto& presets = policy_.effective_presets();
    std::string text;
    for (const auto& row : preset_rows()) {
      if ((row.platform && row.platform != facts_.platform) || !presets.contains(row.preset)) continue;
      text.clear();
      if (row.in_home) text.append(facts_.home.text()).append(facts_.home.is_root() ? "" : "/");
      text += row.path;
      if (present(text)) open(AbsPath::of(text), Access::read, Origin::preset);
    }
    if (presets.contains(Preset::system_runtime)) open_name_service();
    if (!presets.contains(Preset::developer_toolchains)) return;
    for (const auto& path : facts_.search_path) {
      // A PATH entry must not open the home directory or the whole system by accident.
      if (!path.contains(facts_.home) && present(path.text())) open(path, Access::read, Origin::search_path);
    }
  }

  // A stub resolver keeps the file behind /etc/resolv.conf under /run, which nothing else opens.
  void open_name_service() {
    if (policy_.level() < SideEffectLevel::network) return;
    if (const auto* target = link_target(resolver_file)) open(*target, Access::read, Origin::preset);
    say(AbsPath::of(resolver_file), Said::nothing);
  }

  void add_devices() {
    for (const auto& device : device_grants(facts_.platform)) open(device.path, device.access, Origin::device);
  }

  // A linked worktree commits into directories outside itself. Hooks, and what names a program or another object
  // store, stay read-only: git on the host follows them. Inside they run, confined, as in the main checkout.
  void add_git() {
    for (const auto& path : facts_.guarded) cap(path);
    if (facts_.git.empty()) return;
    const PathModel model(policy_);
    for (const auto& git : facts_.git) {
      // A repository inside a root has one directory and is only guarded.
      const bool linked = git.git_dir != git.common_dir;
      if (linked && for_processes() && model.value(git.work_tree.text()).process == Ruled::write) open_git(git);
      for (const auto* name : {"hooks", "config", "config.worktree", "objects/info/alternates"}) cap(git.common_dir.join(name));
      for (const auto* name : {"config.worktree", "commondir", "gitdir"}) cap(git.git_dir.join(name));
      // The ".git" file that says where the repository is; a work tree with its own directory has none.
      if (auto pointer = git.work_tree.join(".git"); !pointer.contains(git.common_dir)) cap(std::move(pointer));
    }
  }

  void open_git(const GitLayout& git) {
    open(git.common_dir, Access::read, Origin::git);
    open(git.git_dir, Access::write, Origin::git);
    for (const auto* name : {"objects", "refs", "logs"}) open(git.common_dir.join(name), Access::write, Origin::git);
    // Alternates are opened by nobody's word but the operator's: a command that may add objects can also
    // write the list of other stores.
  }

  // What is lifted opens a path, and a link leads anywhere, into the other home as well: both come
  // first, because they count among what secrets may be near to.
  void add_credentials() {
    for (auto& credential : system_credentials()) close_or_expose(std::move(credential));
    std::vector<AbsPath> homes = {facts_.home};
    if (facts_.account_home) homes.push_back(*facts_.account_home);
    for (const auto& home : homes) add_lifted_and_linked(home);
    for (const auto& home : homes) add_near(home);
  }

  void add_lifted_and_linked(const AbsPath& home) {
    for (const auto& path : entries(policy_.process_sandbox.credentials))
      if (const auto* row = find_credential(home, path.text())) add_row(home, *row);
    for (const auto& link : links_)
      if (const auto* row = find_credential(home, link.path)) add_row(home, *row);
    if (!tokens_) return;
    for (const auto& row : home_credentials())
      if (row.package_token) add_row(home, row);
  }

  void add_near(const AbsPath& home) {
    NearCredentials near(spelled(home));
    if (scope_ == CandidateScope::whole_host) near.pick_all();
    else
      for (const auto& candidate : found_) near.pick_near(candidate.path);
    std::string text = home.is_root() ? "/" : home.text() + "/";
    const auto length = text.size();
    for (const auto& row : near.picked()) {
      text.replace(length, std::string::npos, row.path);
      if (!absent(text)) add_row(home, row);
    }
  }

  void add_row(const AbsPath& home, const CredentialRow& row) { close_or_expose({home.join(row.path), row.package_token}); }

  bool is_lifted(const Credential& credential) const {
    const auto& named = entries(policy_.process_sandbox.credentials);
    return for_processes() && ((tokens_ && credential.package_token) || std::ranges::find(named, credential.path) != named.end());
  }

  // Dotfiles are often links into a checkout: what they name is the same secret.
  void close_or_expose(Credential credential) {
    const auto said = is_lifted(credential) ? Said::exposed : Said::credential;
    if (const auto* target = link_target(credential.path.text())) say(spelled(*target), said);
    say(spelled(std::move(credential.path)), said);
  }

  bool is_unprotected(const AbsPath& path) const {
    return std::ranges::any_of(entries(policy_.unprotect), [&](const AbsPath& lifted) { return lifted.contains(path); });
  }

  void add_protected() {
    std::vector<AbsPath> roots;
    for (std::size_t i = 0; i < roots_; ++i) roots.push_back(found_[i].path);
    std::ranges::sort(roots);
    const auto repeated = std::ranges::unique(roots);
    roots.erase(repeated.begin(), repeated.end());
    protected_.reserve(roots.size() * protected_names().size());
    for (const auto& root : roots) add_protected_of(root);
  }

  void add_protected_of(const AbsPath& root) {
    std::string_view asked;
    bool holds = false;
    for (const auto& entry : protected_names()) {
      if (!entry.needs.empty() && entry.needs != asked) {
        asked = entry.needs;
        holds = present(root.join(asked).text());
      }
      // A repository that does not exist yet has nothing to protect: the command may create its own.
      const bool lifted = !entry.needs.empty() && !holds;
      auto name = root.join(entry.name);
      if (absent(name.text())) continue;
      protected_.push_back({.path = std::move(name), .said = lifted ? Said::unprotect : Said::protected_name});
      // What a protected link leads to is what the host will execute.
      const auto& path = protected_.back().path;
      if (const auto* target = lifted ? nullptr : link_target(path.text()); target != nullptr && !is_unprotected(path)) cap(*target);
    }
  }

  // The protected names come sorted as long as no root lies in another one.
  std::vector<Candidate> in_order() {
    std::ranges::sort(found_, before);
    if (!std::ranges::is_sorted(protected_, before)) std::ranges::sort(protected_, before);
    std::vector<Candidate> all;
    all.reserve(found_.size() + protected_.size());
    std::merge(std::make_move_iterator(found_.begin()), std::make_move_iterator(found_.end()), std::make_move_iterator(protected_.begin()),
               std::make_move_iterator(protected_.end()), std::back_inserter(all), before);
    unite_equal(all);
    return all;
  }

  const Policy& policy_;
  const HostFacts& facts_;
  CandidateScope scope_;
  const KnownAbsent& known_absent_;
  Kinds kinds_;
  bool tokens_;                   // the registry tokens of package managers are lifted
  std::vector<Link> links_ = {};  // sorted by path, as the facts are
  std::vector<Candidate> found_ = {};
  std::vector<Candidate> protected_ = {};
  std::size_t roots_ = 0;  // how many of found_, from the first, are writable roots
};

Policy spelled_really(Policy policy, Platform platform) {
  auto& sandbox = policy.process_sandbox;
  const auto spell = [&](std::vector<AbsPath>& paths) {
    for (auto& path : paths) path = real_spelling(platform, path);
  };
  for (auto* list : {&policy.workspace_roots, &policy.read_only_roots, &policy.unprotect, &sandbox.read_roots, &sandbox.write_roots,
                     &sandbox.credentials})
    if (*list) spell(**list);
  spell(sandbox.read_deny_roots);
  return policy;
}

// Without any workspace read capability the lists grant nothing. The process-only lists go too: an
// intersection may express what is left of a workspace root as one of them.
Policy without_lists(Policy policy) {
  if (policy.workspace_roots) policy.workspace_roots->clear();
  policy.read_only_roots.reset();
  policy.process_sandbox.read_roots.reset();
  policy.process_sandbox.write_roots.reset();
  return policy;
}

}  // namespace

std::vector<Candidate> path_candidates(const Policy& policy, const HostFacts& facts, CandidateScope scope,
                                       const KnownAbsent& known_absent) {
  if (facts.platform != Platform::macos && policy.may_read()) return Collector(policy, facts, scope, known_absent).run();
  auto held = policy.may_read() ? policy : without_lists(policy);
  if (facts.platform == Platform::macos) held = spelled_really(std::move(held), facts.platform);
  return Collector(held, facts, scope, known_absent).run();
}

}  // namespace harn::policy
