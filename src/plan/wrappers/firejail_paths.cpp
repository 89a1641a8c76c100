// SPDX-License-Identifier: Apache-2.0
#include "plan/wrappers/firejail_paths.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/text.h"
#include "plan/linux/ancestors.h"
#include "plan/wrappers/links.h"
#include "plan/wrappers/wrapper_coverage.h"

namespace harn::plan {
namespace {

// Taken for the names in "/" where nobody looked.
constexpr std::array usual_names{"boot", "dev", "etc",  "home", "media", "mnt", "nix", "opt",
                                 "root", "run", "snap", "srv",  "sys",   "tmp", "usr", "var"};

bool in_dev(const AbsPath& path) { return AbsPath::of("/dev").contains(path); }

// firejail expands patterns and macros, and splits lists at commas.
bool is_plain(std::string_view text) {
  constexpr std::string_view allowed = "/._-+@=:#";
  const auto plain = [&](unsigned char c) {
    return c >= 0x80 || std::isalnum(c) != 0 || allowed.find(static_cast<char>(c)) != allowed.npos;
  };
  return std::all_of(text.begin(), text.end(), plain) && text.find("..") == text.npos;
}

bool grants(const PathRule& rule) { return rule.access != Access::none && rule.kind != PathKind::missing && rule.origin != Origin::device; }

class Spelling {
 public:
  explicit Spelling(const PlanInput& input) : input_(input), rules_(input.rules) {}

  Result<FirejailPaths> spell() && {
    if (rules_.access(AbsPath{}) != Access::none)
      return fail(cannot_express("firejail remounts '/' without what is mounted beneath it, so it cannot be granted as a whole",
                                 "grant the directories in it, or use another backend"));
    HARN_OK(collect_grants());
    HARN_OK(collect_sockets());
    HARN_OK(empty_directory(AbsPath{}));
    for (const auto& rule : rules_.rules())
      if (rule.origin != Origin::device) HARN_OK(refine(rule));
    return std::move(out_);
  }

 private:
  Status say(std::string_view option, const AbsPath& path) {
    HARN_TRY(word, firejail_word(option, path));
    out_.words.push_back(std::move(word));
    return {};
  }

  static Status no_device(const AbsPath& path) {
    return fail(cannot_express("firejail replaces /dev, so " + base::quoted(path.text()) + " cannot be granted", "use another backend"));
  }

  // A blacklisted directory is an empty one: nothing inside can be opened again.
  static Status no_way_in(const AbsPath& path, const AbsPath& denied) {
    return fail(cannot_express("firejail cannot open " + base::quoted(path.text()) + " inside the denied " + base::quoted(denied.text()),
                               "deny less, or use another backend"));
  }

  // The outermost granted paths. firejail opens what a link leads to; that has rules of its own.
  Status collect_grants() {
    Ancestors<bool> open;
    for (const auto& rule : rules_.rules()) {
      if (!grants(rule) || open.enclosing(rule.path) != nullptr) continue;
      const auto link = link_below(input_.facts, AbsPath{}, rule.path);
      if (link && is_named(rule.origin)) return fail(behind_link(rule.path, *link));
      if (link) continue;
      open.enter(rule.path, true);
      grants_.push_back(rule.path);
    }
    return {};
  }

  // Sockets outside of every grant are opened like a granted file.
  Status collect_sockets() {
    std::vector<AbsPath> sockets;
    for (const auto& socket : entries(input_.policy.process_sandbox.unix_sockets)) {
      if (!input_.facts.exists(socket.path) || rules_.access(socket.path) != Access::none) continue;
      if (in_dev(socket.path)) return no_device(socket.path);
      if (grant_above(socket.path)) return no_way_in(socket.path, rules_.nearest(socket.path)->path);
      sockets.push_back(socket.path);
    }
    grants_.insert(grants_.end(), sockets.begin(), sockets.end());
    std::sort(grants_.begin(), grants_.end());
    return {};
  }

  bool grant_above(const AbsPath& path) const {
    const auto after = std::upper_bound(grants_.begin(), grants_.end(), path);
    return after != grants_.begin() && std::prev(after)->contains(path);
  }

  std::vector<AbsPath> grants_below(const AbsPath& path) const {
    std::vector<AbsPath> found;
    for (auto it = std::upper_bound(grants_.begin(), grants_.end(), path); it != grants_.end() && path.contains(*it); ++it)
      found.push_back(*it);
    return found;
  }

  Result<std::vector<AbsPath>> names_in(const AbsPath& directory) {
    const auto it = input_.facts.paths.find(directory.text());
    std::set<AbsPath> names;
    if (it != input_.facts.paths.end() && it->second.entries) {
      for (const auto& name : *it->second.entries) names.insert(directory.join(name));
      out_.root_is_listed = true;
    } else if (directory.is_root()) {
      for (const auto* name : usual_names) names.insert(directory.join(name));
      for (const auto& grant : grants_) names.insert(first_below(directory, grant));
    } else {
      return fail(
          cannot_express("firejail cannot open single paths in " + base::quoted(directory.text()) + " without knowing what else is there",
                         "grant " + base::quoted(directory.text()) + " as a whole, or use another backend"));
    }
    return std::vector<AbsPath>(names.begin(), names.end());
  }

  static AbsPath first_below(const AbsPath& directory, const AbsPath& path) {
    const auto rest = directory.below(path);
    return directory.join(rest.substr(0, rest.find('/')));
  }

  Status empty_directory(const AbsPath& directory) {
    HARN_TRY(names, names_in(directory));
    for (const auto& path : names) HARN_OK(place(path));
    // Root owns the directory itself and could write there without any capability; nobody else can.
    return input_.facts.uid == 0 ? say("read-only", directory) : Status{};
  }

  // Leaves open, empties or hides one directory whose parent cannot be whitelisted in.
  Status place(const AbsPath& path) {
    if (link_below(input_.facts, path.parent(), path) || path.text() == "/proc" || path.text() == "/dev" ||
        rules_.access(path) != Access::none)
      return {};
    const auto inside = grants_below(path);
    if (path.text() == "/usr" && !inside.empty()) return empty_directory(path);
    auto emptied = kept_empty(path);
    if (inside.empty() && emptied.empty()) return say("blacklist", path);
    for (const auto& directory : emptied) HARN_OK(say("whitelist", directory.join(firejail_nothing)));
    for (const auto& grant : inside) HARN_OK(say("whitelist", grant));
    return {};
  }

  // Directories firejail keeps or restores on its own, to be emptied but usable.
  std::vector<AbsPath> kept_empty(const AbsPath& path) const {
    const auto& home = input_.facts.home;
    const auto runtime = AbsPath::of("/run/user/" + std::to_string(input_.facts.uid));
    std::set<AbsPath> emptied;
    if (path.text() == "/tmp" || path.text() == "/run" || path.contains(home)) emptied.insert(path);
    for (const auto& nested : {home, runtime})
      if (path.contains(nested) && rules_.access(nested) == Access::none) emptied.insert(nested);
    return {emptied.begin(), emptied.end()};
  }

  Status refine(const PathRule& rule) {
    const auto access = mounted_access(rules_, rule);
    const auto* around = held_.enclosing(rule.path);
    if (around == nullptr && access == Access::none) return {};
    if (around != nullptr && *around == access) return {};
    if (rule.kind == PathKind::missing) {
      if (around != nullptr && *around == Access::write) out_.absent.push_back(rule.path);
      return {};
    }
    if (auto link = link_below(input_.facts, around == nullptr ? AbsPath{} : held_.place(), rule.path)) {
      if (around != nullptr && *around == Access::write) out_.links.push_back(std::move(*link));
      return {};
    }
    if (around != nullptr && *around == Access::none) return no_way_in(rule.path, held_.place());
    if (in_dev(rule.path) && access != Access::none) return no_device(rule.path);
    if (around != nullptr && *around == Access::write) HARN_OK(pin(rule.path));
    held_.enter(rule.path, access);
    if (access == Access::none) return say("blacklist", rule.path);
    if (access == Access::read) return say("read-only", rule.path);
    return around != nullptr || input_.facts.uid == 0 ? say("read-write", rule.path) : Status{};
  }

  // A directory above a mount point can be renamed away and replaced; a mount point cannot.
  Status pin(const AbsPath& path) {
    std::vector<AbsPath> way;
    for (auto at = path.parent(); at != held_.place() && pinned_.insert(at).second; at = at.parent()) way.push_back(at);
    for (auto it = way.rbegin(); it != way.rend(); ++it) {
      HARN_OK(say("read-only", *it));
      HARN_OK(say("read-write", *it));
    }
    return {};
  }

  const PlanInput& input_;
  const PathRules& rules_;
  std::vector<AbsPath> grants_ = {};
  Ancestors<Access> held_ = {};
  std::set<AbsPath> pinned_ = {};
  FirejailPaths out_ = {};
};

}  // namespace

Result<std::string> firejail_word(std::string_view option, const AbsPath& path) {
  if (is_plain(path.text())) return "--" + std::string(option) + "=" + path.text();
  return fail(cannot_express("firejail would read the path " + base::quoted(path.text()) + " as a pattern or a list",
                             "rename it, or use another backend"));
}

Result<FirejailPaths> firejail_paths(const PlanInput& input) { return Spelling(input).spell(); }

}  // namespace harn::plan
