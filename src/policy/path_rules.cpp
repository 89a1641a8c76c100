// SPDX-License-Identifier: Apache-2.0
// A policy compiled for one host. Everything special — presets, credentials, protected names, git
// directories, devices — is folded into one list in which the nearest rule decides, so that a
// backend has a single, plain thing to translate.
#include <algorithm>

#include "policy/path_model.h"
#include "policy/presets.h"

namespace harn {

namespace {

using policy::PathModel;
using policy::Ruled;

// Paths opened by something other than the policy's own lists. Additive: never narrows a list,
// never opens what a list denies.
struct Opened {
  Access access = Access::none;
  Origin origin = Origin::nothing;
};
using OpenedPaths = std::unordered_map<std::string, Opened, policy::TextHash, std::equal_to<>>;

constexpr std::string_view resolver_file = "/etc/resolv.conf";

struct Verdict {
  Access access = Access::none;
  Origin origin = Origin::nothing;
};

void spell_really(Policy& policy, Platform platform) {
  if (platform != Platform::macos) return;
  auto& sandbox = policy.process_sandbox;
  const auto spell = [&](std::vector<AbsPath>& paths) {
    for (auto& path : paths) path = real_spelling(platform, path);
  };
  for (auto* list : {&policy.workspace_roots, &policy.read_only_roots, &policy.unprotect, &sandbox.read_roots, &sandbox.write_roots,
                     &sandbox.credentials})
    if (*list) spell(**list);
  spell(sandbox.read_deny_roots);
}

// Without any workspace read capability the lists grant nothing. The process-only lists go too: an
// intersection may express what is left of a workspace root as one of them.
Policy without_unheld_lists(Policy policy, Platform platform) {
  spell_really(policy, platform);
  if (policy.may_read()) return policy;
  if (policy.workspace_roots) policy.workspace_roots->clear();
  policy.read_only_roots.reset();
  policy.process_sandbox.read_roots.reset();
  policy.process_sandbox.write_roots.reset();
  return policy;
}

}  // namespace

AbsPath real_spelling(Platform platform, const AbsPath& path) {
  if (platform != Platform::macos) return path;
  for (const auto* alias : {"/etc", "/tmp", "/var"})
    if (AbsPath::of(alias).contains(path)) return AbsPath::of("/private" + path.text());
  return path;
}

class PathRulesBuilder {
 public:
  PathRulesBuilder(const Policy& policy, const HostFacts& facts, bool for_processes, bool everything_exists = false)
      : policy_(without_unheld_lists(policy, facts.platform)),
        facts_(facts),
        model_(policy_),
        for_processes_(for_processes),
        everything_exists_(everything_exists) {
    may_write_ = policy.may_write();
    may_delete_ = policy.may_delete();
    add_credentials();
    if (for_processes_) {
      add_presets();
      add_devices();
    }
    add_git();
    add_protected();
    for (auto list : {model_.ruled_paths(), model_.unprotected_paths()})
      for (auto& path : list) candidates_.push_back(std::move(path));
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
  }

  std::vector<AbsPath> candidates() && { return std::move(candidates_); }

  PathRules build() && {
    PathRules out;
    out.may_write_ = may_write_;
    out.may_delete_ = may_delete_;
    out.platform_ = facts_.platform;
    for (const auto& path : candidates_) {
      const auto verdict = verdict_at(path);
      // Candidates come sorted, so the rule above is the last one written or one of its ancestors.
      int parent = static_cast<int>(out.rules_.size()) - 1;
      while (parent >= 0 && !out.rules_[static_cast<std::size_t>(parent)].path.contains(path))
        parent = out.parents_[static_cast<std::size_t>(parent)];
      if (verdict.access == (parent < 0 ? Access::none : out.rules_[static_cast<std::size_t>(parent)].access)) continue;
      const auto origin = verdict.origin == Origin::workspace ? model_.origin(path.text()) : verdict.origin;
      out.rules_.push_back({path, verdict.access, origin, facts_.kind_of(path)});
      out.parents_.push_back(parent);
    }
    return out;
  }

 private:
  bool present(const AbsPath& path) const { return everything_exists_ || facts_.exists(path); }

  void open(const AbsPath& spelled, Access access, Origin origin) {
    const auto path = real_spelling(facts_.platform, spelled);
    auto& slot = opened_[path.text()];
    if (access > slot.access) slot = {access, origin};
    candidates_.push_back(path);
  }

  void add_credentials() {
    const auto& exposed = entries(policy_.process_sandbox.credentials);
    const std::set<AbsPath> named(exposed.begin(), exposed.end());
    const bool tokens = policy_.exposes_package_tokens();
    for (const auto& credential : policy::credential_paths(facts_)) {
      const bool lifted = for_processes_ && (named.contains(credential.path) || (tokens && credential.package_token));
      close_or_expose(credential.path, lifted);
      // Dotfiles are often links into a checkout: what they name is the same secret.
      if (const auto target = link_target(credential.path)) close_or_expose(*target, lifted);
    }
  }

  void close_or_expose(const AbsPath& spelled, bool lifted) {
    const auto path = real_spelling(facts_.platform, spelled);
    (lifted ? exposed_ : credentials_).insert(path.text());
    candidates_.push_back(path);
  }

  std::optional<AbsPath> link_target(const AbsPath& path) const {
    const auto it = facts_.paths.find(path.text());
    return it == facts_.paths.end() ? std::nullopt : it->second.link_target;
  }

  void add_presets() {
    // A recursive ACL change per spawn is too dear to make without being asked.
    if (facts_.platform == Platform::windows && !policy_.names_presets()) return;
    const auto presets = policy_.effective_presets();
    for (const auto& path : policy::preset_paths(presets, facts_))
      if (present(path)) open(path, Access::read, Origin::preset);
    if (presets.contains(Preset::system_runtime)) open_name_service();
    if (!presets.contains(Preset::developer_toolchains)) return;
    for (const auto& path : facts_.search_path) {
      // A PATH entry must not open the home directory or the whole system by accident.
      if (!path.contains(facts_.home) && present(path)) open(path, Access::read, Origin::search_path);
    }
  }

  // A stub resolver keeps the file behind /etc/resolv.conf under /run, which nothing else opens.
  void open_name_service() {
    if (policy_.level() < SideEffectLevel::network) return;
    const auto file = AbsPath::of(resolver_file);
    if (const auto target = link_target(file)) open(*target, Access::read, Origin::preset);
    candidates_.push_back(file);
  }

  void add_devices() {
    for (const auto& device : policy::device_grants(facts_.platform)) open(device.path, device.access, Origin::device);
  }

  // A linked worktree commits into directories outside itself. Hooks stay closed, and what names a
  // program or another object store stays read-only: git on the host follows it.
  void add_git() {
    for (const auto& git : facts_.git) {
      if (for_processes_ && model_.value(git.work_tree.text()).process == Ruled::write) open_git(git);
      for (const auto& path : {git.common_dir.join("hooks"), git.common_dir.join("config"), git.common_dir.join("config.worktree"),
                               git.common_dir.join("objects/info/alternates"), git.git_dir.join("config.worktree"),
                               git.git_dir.join("commondir"), git.git_dir.join("gitdir"), pointer_of(git)}) {
        capped_.insert(path.text());
        candidates_.push_back(path);
      }
    }
  }

  // The ".git" file that says where the repository is; a work tree with its own directory has none.
  static AbsPath pointer_of(const GitLayout& git) {
    const auto pointer = git.work_tree.join(".git");
    return pointer.contains(git.common_dir) ? git.git_dir.join("gitdir") : pointer;
  }

  void open_git(const GitLayout& git) {
    open(git.common_dir, Access::read, Origin::git);
    open(git.git_dir, Access::write, Origin::git);
    for (const auto* name : {"objects", "refs", "logs"}) open(git.common_dir.join(name), Access::write, Origin::git);
    // Where the command itself can write the list of alternates, it grants nothing.
    if (model_.value(git.common_dir.text()).process != Ruled::write)
      for (const auto& path : git.alternates) open(path, Access::read, Origin::git);
    hooks_.insert(git.common_dir.join("hooks").text());
  }

  // What a protected link leads to is what the host will execute.
  void add_protected_name(const AbsPath& path) {
    candidates_.push_back(path);
    const auto target = link_target(path);
    if (!target || model_.is_unprotected(path.text())) return;
    capped_.insert(target->text());
    candidates_.push_back(*target);
  }

  void add_protected() {
    const auto names = policy::protected_names();
    for (const auto& root : model_.writable_roots()) {
      for (const auto& entry : names) {
        const auto path = root.join(entry.name);
        // A repository that does not exist yet has nothing to protect: the command may create its own.
        if (!entry.needs.empty() && !present(root.join(entry.needs))) model_.add_unprotect(path);
        else add_protected_name(path);
      }
    }
  }

  template <class Set>
  static bool covered(const Set& set, std::string_view path) {
    if (set.empty()) return false;
    for (auto at = path; !at.empty(); at = policy::parent_text(at))
      if (set.contains(at)) return true;
    return false;
  }

  // Origin::workspace stands for "some list"; which one matters only where a rule is written.
  Verdict listed(const AbsPath& path) const {
    const auto value = model_.value(path.text());
    if (value.process == Ruled::deny) return {Access::none, Origin::deny};
    auto access = value.file;
    if (for_processes_) access = value.process == Ruled::write ? Access::write : value.process == Ruled::read ? Access::read : Access::none;
    return {access, access == Access::none ? Origin::nothing : Origin::workspace};
  }

  Verdict with_opened(Verdict verdict, std::string_view path) const {
    if (verdict.origin == Origin::deny) return verdict;
    // Among opened paths the most specific decides as well: a worktree's git directory is writable
    // inside a readable common directory.
    for (auto at = path; !at.empty(); at = policy::parent_text(at)) {
      const auto it = opened_.find(at);
      if (it == opened_.end()) continue;
      if (it->second.access > verdict.access) verdict = {it->second.access, it->second.origin};
      break;
    }
    return verdict;
  }

  Verdict verdict_at(const AbsPath& path) const {
    const std::string_view text = path.text();
    if (covered(credentials_, text)) return {Access::none, Origin::credential};
    auto verdict = with_opened(listed(path), text);
    if (verdict.access < Access::read && verdict.origin != Origin::deny && covered(exposed_, text))
      verdict = {Access::read, Origin::exposed};
    const bool guarded = covered(capped_, text) && !model_.is_unprotected(text);
    if (guarded && verdict.access == Access::write) verdict = {Access::read, Origin::protected_};
    if (guarded && verdict.origin == Origin::git && covered(hooks_, text)) verdict = {Access::none, Origin::protected_};
    // Writing to /dev/null changes nothing, so it needs no capability.
    const bool held = may_write_ || may_delete_ || verdict.origin == Origin::device;
    if (verdict.access == Access::write && !held) verdict.access = Access::read;
    return verdict;
  }

  Policy policy_;
  const HostFacts& facts_;
  PathModel model_;
  bool for_processes_;
  bool everything_exists_;
  bool may_write_ = false;
  bool may_delete_ = false;
  std::vector<AbsPath> candidates_ = {};
  OpenedPaths opened_ = {};
  using Texts = std::unordered_set<std::string, policy::TextHash, std::equal_to<>>;
  Texts credentials_ = {};
  Texts exposed_ = {};
  Texts capped_ = {};
  Texts hooks_ = {};
};

PathRules PathRules::for_processes(const Policy& policy, const HostFacts& facts) {
  return PathRulesBuilder(policy, facts, /*for_processes=*/true).build();
}

PathRules PathRules::for_file_operations(const Policy& policy, const HostFacts& facts) {
  return PathRulesBuilder(policy, facts, /*for_processes=*/false).build();
}

const PathRule* PathRules::nearest(const AbsPath& path) const {
  if (platform_ != Platform::macos) return nearest_real(path);
  return nearest_real(real_spelling(platform_, path));
}

const PathRule* PathRules::nearest_real(const AbsPath& path) const {
  const auto after =
      std::upper_bound(rules_.begin(), rules_.end(), path, [](const AbsPath& wanted, const PathRule& rule) { return wanted < rule.path; });
  auto index = static_cast<int>(after - rules_.begin()) - 1;
  // The predecessor may sit in a sibling's subtree; its ancestors lead to ours.
  while (index >= 0 && !rules_[static_cast<std::size_t>(index)].path.contains(path)) index = parents_[static_cast<std::size_t>(index)];
  return index < 0 ? nullptr : &rules_[static_cast<std::size_t>(index)];
}

Access PathRules::access(const AbsPath& path) const {
  const auto* rule = nearest(path);
  return rule == nullptr ? Access::none : rule->access;
}

Decision PathRules::decide(const AbsPath& path, FileOp op) const {
  const auto* rule = nearest(path);
  if (rule == nullptr) return {};
  Decision out{.allowed = false, .origin = rule->origin, .rule = rule->path};
  switch (op) {
    case FileOp::read:
    case FileOp::list:
    case FileOp::execute: out.allowed = rule->access >= Access::read; break;
    case FileOp::write: out.allowed = rule->access == Access::write && (may_write_ || rule->origin == Origin::device); break;
    case FileOp::remove: out.allowed = rule->access == Access::write && may_delete_ && rule->origin != Origin::device; break;
  }
  return out;
}

Decision decide(const Policy& policy, const HostFacts& facts, const AbsPath& path, FileOp op) {
  return PathRules::for_processes(policy, facts).decide(path, op);
}

std::vector<AbsPath> paths_of_interest(const Policy& policy, const HostFacts& facts) {
  auto paths = PathRulesBuilder(policy, facts, /*for_processes=*/true, /*everything_exists=*/true).candidates();
  for (const auto& root : policy::PathModel(policy).writable_roots())
    for (const auto& entry : policy::protected_names())
      if (!entry.needs.empty()) paths.push_back(root.join(entry.needs));
  for (const auto& socket : entries(policy.process_sandbox.unix_sockets)) paths.push_back(socket.path);
  // What a name stands in matters too: a mechanism may need the directory to guard an absent name.
  for (std::size_t i = 0, count = paths.size(); i < count; ++i) paths.push_back(paths[i].parent());
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

std::vector<AbsPath> directories_to_list(const PathRules& rules) {
  std::vector<AbsPath> directories;
  for (const auto& rule : rules.rules()) {
    if (rule.path.is_root() || rule.access != Access::none || rule.kind == PathKind::missing) continue;
    const auto* above = rules.nearest(rule.path.parent());
    if (above == nullptr || above->access != Access::read) continue;
    for (auto at = rule.path.parent(); above->path.contains(at); at = at.parent()) {
      directories.push_back(at);
      if (at == above->path) break;
    }
  }
  // A mechanism that hides by name rather than by place has to know what stands at the top.
  directories.push_back(AbsPath::of("/"));
  directories.push_back(AbsPath::of("/usr"));
  std::sort(directories.begin(), directories.end());
  directories.erase(std::unique(directories.begin(), directories.end()), directories.end());
  return directories;
}

}  // namespace harn
