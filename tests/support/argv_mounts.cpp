// SPDX-License-Identifier: Apache-2.0
#include "support/argv_mounts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace harn::test {
namespace {

bool is_link(const HostFacts& facts, const AbsPath& path) {
  const auto it = facts.paths.find(path.text());
  return it != facts.paths.end() && it->second.link_target.has_value();
}

// ---- mounts, where the later one covers the earlier one ---------------------------------------------

struct Mount {
  AbsPath target = {};
  std::optional<AbsPath> source = {};  // unset = fresh, nothing of the host inside
  bool writable = true;
};

class MountTable {
 public:
  explicit MountTable(const HostFacts& facts) : facts_(facts) {}

  void add(Mount mount) { mounts_.push_back(std::move(mount)); }

  const Mount* top(const AbsPath& path) const {
    const auto it = std::find_if(mounts_.rbegin(), mounts_.rend(), [&](const Mount& m) { return m.target.contains(path); });
    return it == mounts_.rend() ? nullptr : &*it;
  }

  bool make_read_only(const AbsPath& target) {
    const auto it = std::find_if(mounts_.rbegin(), mounts_.rend(), [&](const Mount& m) { return m.target == target; });
    if (it == mounts_.rend()) return false;
    it->writable = false;
    return true;
  }

  // What mounting (or making something) at `target` would do to the host, given the mounts so far.
  std::optional<std::string> harm(const AbsPath& target) const {
    const auto* around = top(target);
    if (around == nullptr || !around->source) return std::nullopt;
    const auto on_host = around->source->join(around->target.below(target));
    if (!facts_.exists(on_host)) return "would create " + on_host.text() + " on the host";
    if (is_link(facts_, on_host)) return "would follow the link " + on_host.text();
    return std::nullopt;
  }

  Access access(const AbsPath& path) const {
    auto best = Access::none;
    for (const auto& mount : mounts_) {
      if (!mount.source || !mount.source->contains(path)) continue;
      const auto seen_at = mount.target.join(mount.source->below(path));
      if (top(seen_at) == &mount) best = std::max(best, mount.writable ? Access::write : Access::read);
    }
    return best;
  }

  // Container engines mount shallow targets first.
  void sort_by_depth() {
    std::sort(mounts_.begin(), mounts_.end(), [](const Mount& a, const Mount& b) {
      return a.target.depth() != b.target.depth() ? a.target.depth() < b.target.depth() : a.target < b.target;
    });
  }

  const std::vector<Mount>& mounts() const { return mounts_; }

 private:
  const HostFacts& facts_;
  std::vector<Mount> mounts_ = {};
};

// ---- bwrap ------------------------------------------------------------------------------------------

const std::map<std::string, std::size_t> bwrap_options = {{"--die-with-parent", 0},
                                                          {"--unshare-user", 0},
                                                          {"--unshare-pid", 0},
                                                          {"--unshare-ipc", 0},
                                                          {"--unshare-uts", 0},
                                                          {"--unshare-cgroup-try", 0},
                                                          {"--unshare-net", 0},
                                                          {"--cap-drop", 1},
                                                          {"--seccomp", 1},
                                                          {"--json-status-fd", 1},
                                                          {"--chdir", 1},
                                                          {"--perms", 1},
                                                          {"--tmpfs", 1},
                                                          {"--dir", 1},
                                                          {"--proc", 1},
                                                          {"--dev", 1},
                                                          {"--remount-ro", 1},
                                                          {"--bind", 2},
                                                          {"--ro-bind", 2},
                                                          {"--dev-bind", 2},
                                                          {"--symlink", 2}};

class Bwrap {
 public:
  Bwrap(const HostFacts& facts, Understood& out) : table_(std::make_shared<MountTable>(facts)), facts_(facts), out_(out) {}

  void option(const std::string& name, const std::vector<std::string>& values) {
    if (name == "--remount-ro" && !table_->make_read_only(AbsPath::of(values[0]))) complain("nothing is mounted at " + values[0]);
    const bool fresh = name == "--tmpfs" || name == "--proc" || name == "--dev";
    if (fresh) mount({.target = AbsPath::of(values[0])}, /*directory=*/true);
    if (name == "--dir") check(AbsPath::of(values[0]));
    if (name == "--symlink") link(AbsPath::of(values[1]));
    if (name.ends_with("bind")) bind(AbsPath::of(values[0]), AbsPath::of(values[1]), name != "--ro-bind");
  }

  const std::shared_ptr<MountTable>& table() const { return table_; }

 private:
  void complain(std::string text) { out_.problems.push_back(std::move(text)); }

  void check(const AbsPath& target) {
    if (auto harm = table_->harm(target)) complain(std::move(*harm));
  }

  void link(const AbsPath& target) {
    const auto* around = table_->top(target);
    if (around != nullptr && around->source) complain("would link at " + target.text() + " on the host");
  }

  void bind(const AbsPath& source, const AbsPath& target, bool writable) {
    if (source.text() == "/dev/null") return mount({.target = target, .writable = false}, /*directory=*/false);
    if (!facts_.exists(source)) complain("has no source " + source.text());
    mount({.target = target, .source = source, .writable = writable}, facts_.kind_of(source) == PathKind::directory);
  }

  void mount(Mount entry, bool directory) {
    check(entry.target);
    const auto* around = table_->top(entry.target);
    const bool on_host = around != nullptr && around->source;
    if (on_host && (facts_.kind_of(entry.target) == PathKind::directory) != directory)
      complain("mixes file and directory at " + entry.target.text());
    table_->add(std::move(entry));
  }

  std::shared_ptr<MountTable> table_;
  const HostFacts& facts_;
  Understood& out_;
};

// ---- containers ---------------------------------------------------------------------------------------

const std::set<std::string> container_flags = {"--interactive", "--read-only", "--no-healthcheck", "--http-proxy=false"};
const std::set<std::string> container_values = {"--name",         "--label", "--log-driver",  "--network", "--memory", "--memory-swap",
                                                "--pids-limit",   "--cpus",  "--ulimit",      "--user",    "--userns", "--cap-drop",
                                                "--security-opt", "--ipc",   "--tmpfs",       "--mount",   "--env",    "--workdir",
                                                "--entrypoint",   "--pull",  "--image-volume"};
// Words of harn's own program inside, between the image and the command.
constexpr std::size_t entry_words = 7;

// name=value fields; a field without '=' has an empty value.
std::map<std::string, std::string> mount_fields(const std::string& word) {
  std::map<std::string, std::string> fields;
  for (const auto& field : csv_fields(word)) {
    const auto equals = field.find('=');
    fields[field.substr(0, equals)] = equals == field.npos ? "" : field.substr(equals + 1);
  }
  return fields;
}

void add_container_mount(const std::string& word, MountTable& table, Understood& out) {
  auto fields = mount_fields(word);
  if (!fields.contains("target")) return out.problems.push_back("is no mount: " + word);
  const auto target = AbsPath::of(fields["target"]);
  // docker sends mode 0 as "unset", which means 1777.
  if (fields["type"] == "tmpfs" && fields["tmpfs-mode"].find_first_not_of('0') == std::string::npos)
    out.problems.push_back("opens " + word);
  if (fields["type"] == "tmpfs" || fields["source"] == "/dev/null") return table.add({.target = target, .writable = false});
  table.add({.target = target, .source = AbsPath::of(fields["source"]), .writable = !fields.contains("readonly")});
}

void check_container_targets(const HostFacts& facts, const MountTable& table, Understood& out) {
  MountTable so_far(facts);
  for (const auto& mount : table.mounts()) {
    if (auto harm = so_far.harm(mount.target)) out.problems.push_back(std::move(*harm));
    const auto* around = so_far.top(mount.target);
    if (around != nullptr && around->target == mount.target) out.problems.push_back("mounts twice at " + mount.target.text());
    so_far.add(mount);
  }
}

}  // namespace

std::vector<std::string> csv_fields(const std::string& record) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    const bool doubled = quoted && c == '"' && i + 1 < record.size() && record[i + 1] == '"';
    if (doubled) fields.back() += record[++i];
    else if (c == '"' && (quoted || (i == 0 || record[i - 1] == ','))) quoted = !quoted;
    else if (c == '"' || ((c == '\n' || c == '\r') && !quoted)) return {};
    else if (c == ',' && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  return quoted ? std::vector<std::string>{} : fields;
}

Understood understand_bwrap(const std::vector<std::string>& argv, const HostFacts& facts) {
  Understood out;
  Bwrap bwrap(facts, out);
  std::size_t i = 1;
  for (; i < argv.size() && argv[i] != "--"; ++i) {
    const auto known = bwrap_options.find(argv[i]);
    if (known == bwrap_options.end()) return out.problems.push_back("unknown option " + argv[i]), out;
    bwrap.option(argv[i], std::vector<std::string>(argv.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                                   argv.begin() + static_cast<std::ptrdiff_t>(i + known->second) + 1));
    i += known->second;
  }
  out.command.assign(argv.begin() + static_cast<std::ptrdiff_t>(i) + 1, argv.end());
  if (argv.size() > 9000) out.problems.emplace_back("too many words");
  out.access = [table = bwrap.table()](const AbsPath& path) { return table->access(path); };
  return out;
}

Understood understand_container(const std::vector<std::string>& argv, const HostFacts& facts) {
  Understood out;
  auto table = std::make_shared<MountTable>(facts);
  auto i = static_cast<std::size_t>(std::ranges::find(argv, "create") - argv.begin()) + 1;
  for (; i < argv.size() && argv[i].starts_with("-"); ++i) {
    if (container_flags.contains(argv[i])) continue;
    if (!container_values.contains(argv[i])) return out.problems.push_back("unknown option " + argv[i]), out;
    const auto& option = argv[i];
    const auto& value = argv[++i];
    if (option == "--mount" && value != "type=bind,source=@dir:inside,target=/.harn,readonly") add_container_mount(value, *table, out);
    if (option == "--tmpfs") table->add({.target = AbsPath::of(value.substr(0, value.find(':')))});
  }
  table->sort_by_depth();
  check_container_targets(facts, *table, out);
  i += 1 + entry_words;
  if (i > argv.size()) return out.problems.emplace_back("no command"), out;
  out.command.assign(argv.begin() + static_cast<std::ptrdiff_t>(i), argv.end());
  out.access = [table](const AbsPath& path) { return table->access(path); };
  return out;
}

}  // namespace harn::test
