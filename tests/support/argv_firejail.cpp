// SPDX-License-Identifier: Apache-2.0
// firejail has no mount list on its command line: whitelisting empties whole directories first, then
// the other path options apply in their order.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "support/argv_mounts.h"

namespace harn::test {
namespace {

class Firejail {
 public:
  explicit Firejail(const HostFacts& facts) : facts_(facts), run_user_(AbsPath::of("/run/user/" + std::to_string(facts.uid))) {}

  void option(const std::string& name, const std::string& value, Understood& out) {
    if (name == "--private-dev") private_dev_ = true;
    if (name == "--whitelist") whitelist(AbsPath::of(value), out);
    if (name == "--blacklist" || name == "--read-only" || name == "--read-write") ops_.push_back({name, AbsPath::of(value)});
  }

  // Once every option is known: a path that is not there, or no longer there, is skipped.
  void settle() {
    std::vector<Op> effective;
    for (auto& op : ops_) {
      const auto hidden = [&](const Op& earlier) { return earlier.first == "--blacklist" && earlier.second.contains(op.second); };
      if (facts_.exists(op.second) && visible(op.second) && std::none_of(effective.begin(), effective.end(), hidden))
        effective.push_back(std::move(op));
    }
    ops_ = std::move(effective);
  }

  Access access(const AbsPath& path) const {
    if (!visible(path)) return Access::none;
    auto now = Access::write;
    for (const auto& [name, target] : ops_) {
      if (!target.contains(path)) continue;
      if (name == "--blacklist") return Access::none;
      // Of "/" only the root file system changes, and what else is on it nobody can know.
      if (target.is_root() && !path.is_root()) continue;
      now = name == "--read-only" ? Access::read : Access::write;
    }
    return now;
  }

 private:
  using Op = std::pair<std::string, AbsPath>;

  bool is_link(const AbsPath& path) const {
    const auto it = facts_.paths.find(path.text());
    return it != facts_.paths.end() && it->second.link_target.has_value();
  }

  // The directory that is emptied when something inside is whitelisted.
  std::optional<AbsPath> top_of(const AbsPath& path) const {
    for (const auto& special : {facts_.home, run_user_})
      if (special.contains(path) && special != path) return special;
    const auto usr = AbsPath::of("/usr");
    const std::size_t depth = usr.contains(path) ? 2 : 1;
    if (path.depth() <= depth) return std::nullopt;
    auto top = path;
    while (top.depth() > depth) top = top.parent();
    return top;
  }

  void whitelist(const AbsPath& path, Understood& out) {
    const auto top = top_of(path);
    if (!top || top->text() == "/proc" || top->text() == "/sys") return out.problems.push_back("invalid whitelist path " + path.text());
    if (!facts_.exists(*top) || is_link(*top)) return;
    emptied_.insert(*top);
    if (facts_.exists(path) && path.name() != ".harn-nothing") shown_[*top].push_back(path);
  }

  bool shown_in(const AbsPath& top, const AbsPath& path) const {
    const auto it = shown_.find(top);
    if (it == shown_.end()) return false;
    return std::any_of(it->second.begin(), it->second.end(), [&](const AbsPath& kept) { return kept.contains(path); });
  }

  bool visible(const AbsPath& path) const {
    if (private_dev_ && AbsPath::of("/dev").contains(path)) return false;
    for (const auto& special : {facts_.home, run_user_})
      if (emptied_.contains(special) && special.contains(path)) return shown_in(special, path);
    auto top = path;
    while (top.depth() > 1 && !emptied_.contains(top)) top = top.parent();
    if (!emptied_.contains(top)) return true;
    // Put back in full, unless emptied themselves.
    for (const auto& special : {facts_.home, run_user_})
      if (top.contains(special) && special.contains(path)) return true;
    return shown_in(top, path);
  }

  const HostFacts& facts_;
  AbsPath run_user_;
  bool private_dev_ = false;
  std::set<AbsPath> emptied_ = {};
  std::map<AbsPath, std::vector<AbsPath>> shown_ = {};
  std::vector<Op> ops_ = {};
};

}  // namespace

Understood understand_firejail(const std::vector<std::string>& argv, const HostFacts& facts) {
  Understood out;
  auto firejail = std::make_shared<Firejail>(facts);
  std::size_t i = 1;
  for (; i < argv.size() && argv[i] != "--"; ++i) {
    const auto equals = argv[i].find('=');
    const auto value = equals == argv[i].npos ? std::string() : argv[i].substr(equals + 1);
    if (value.starts_with('/') && value.find_first_of(",*?[]{}()!\"'\\<>&;$~ ") != value.npos)
      out.problems.push_back("is a pattern: " + value);
    firejail->option(argv[i].substr(0, equals), value, out);
  }
  out.command.assign(argv.begin() + static_cast<std::ptrdiff_t>(i) + 1, argv.end());
  if (argv.size() >= 128) out.problems.emplace_back("too many words");
  firejail->settle();
  out.access = [firejail](const AbsPath& path) { return firejail->access(path); };
  return out;
}

}  // namespace harn::test
