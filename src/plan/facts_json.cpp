// SPDX-License-Identifier: Apache-2.0
// HostFacts to JSON and back. Made to be written by hand: every member has a default, and a path that
// is nothing but there is one word ("/usr": "directory").
#include "base/json.h"
#include "plan/json_fields.h"
#include "plan/names.h"

namespace harn {
namespace plan {

// The long form of a path fact; the short form is the kind alone.
template <>
struct Fields<PathFact> {
  static constexpr std::tuple list{always("kind", &PathFact::kind), field("link_target", &PathFact::link_target),
                                   field("entries", &PathFact::entries), field("datagram", &PathFact::datagram),
                                   field("locked", &PathFact::locked)};
};

template <>
struct Fields<Tool> {
  static constexpr std::tuple list{always("path", &Tool::path),    field("version", &Tool::version),
                                   field("works", &Tool::works),   field("why_not", &Tool::why_not),
                                   field("limits", &Tool::limits), field("counts_cpu", &Tool::counts_cpu),
                                   field("pauses", &Tool::pauses)};
};

template <>
struct Fields<GitLayout> {
  static constexpr std::tuple list{always("work_tree", &GitLayout::work_tree), always("git_dir", &GitLayout::git_dir),
                                   always("common_dir", &GitLayout::common_dir), field("alternates", &GitLayout::alternates)};
};

template <>
struct Fields<LinuxFacts> {
  static constexpr std::tuple list{field("kernel", &LinuxFacts::kernel),
                                   field("arch", &LinuxFacts::arch),
                                   field("landlock_abi", &LinuxFacts::landlock_abi),
                                   field("seccomp", &LinuxFacts::seccomp),
                                   field("seccomp_notify", &LinuxFacts::seccomp_notify),
                                   field("pidfd_getfd", &LinuxFacts::pidfd_getfd),
                                   field("user_namespaces", &LinuxFacts::user_namespaces),
                                   field("pid_namespaces", &LinuxFacts::pid_namespaces),
                                   field("network_namespaces", &LinuxFacts::network_namespaces),
                                   field("cgroup", &LinuxFacts::cgroup),
                                   field("why_no_user_namespaces", &LinuxFacts::why_no_user_namespaces)};
};

template <>
struct Json<PathFact> {
  static base::Value write(const PathFact& fact) {
    if (!fact.link_target && !fact.entries && !fact.datagram) return Json<PathKind>::write(fact.kind);
    base::Value out;
    write_members(fact, out);
    return out;
  }
  static Status read(const base::Value& value, PathFact& out) {
    return value.is(base::ValueKind::string) ? Json<PathKind>::read(value, out.kind) : read_members(value, out);
  }
};

// Here paths are keys, so they are checked and normalised as keys.
template <>
struct Json<PathFacts> {
  static base::Value write(const PathFacts& facts) {
    base::Object pairs;
    for (const auto& [path, fact] : facts) pairs.push_back({path, Json<PathFact>::write(fact), {}});
    return write_pairs(std::move(pairs));
  }
  static Status read(const base::Value& value, PathFacts& out) {
    HARN_TRY(pairs, read_pairs(value));
    for (const auto& pair : pairs) HARN_OK(beneath(read_one(pair, out), pair.name));
    return {};
  }

 private:
  static Status read_one(const base::Member& pair, PathFacts& out) {
    AbsPath path;
    HARN_OK(read_path(pair.name, path));
    const auto [entry, fresh] = out.try_emplace(path.text());
    if (!fresh) return broken("the path stands twice, in two spellings", "keep one of them");
    return Json<PathFact>::read(pair.value, entry->second);
  }
};

// Specialisations above are used by this list, so it stands after them.
template <>
struct Fields<HostFacts> {
  static constexpr std::tuple list{field("name", &HostFacts::name),
                                   field("platform", &HostFacts::platform),
                                   field("os_version", &HostFacts::os_version),
                                   field("uid", &HostFacts::uid),
                                   field("gid", &HostFacts::gid),
                                   field("home", &HostFacts::home),
                                   field("account_home", &HostFacts::account_home),
                                   field("temp", &HostFacts::temp),
                                   field("cwd", &HostFacts::cwd),
                                   field("project_root", &HostFacts::project_root),
                                   field("search_path", &HostFacts::search_path),
                                   field("linux", &HostFacts::linux),
                                   field("tools", &HostFacts::tools),
                                   field("git", &HostFacts::git),
                                   field("guarded", &HostFacts::guarded),
                                   field("unlisted", &HostFacts::unlisted),
                                   field("paths", &HostFacts::paths)};
};

}  // namespace plan

std::string facts_to_json(const HostFacts& facts, int indent) { return base::print_json(plan::Json<HostFacts>::write(facts), indent); }

Result<HostFacts> facts_from_json(std::string_view text) {
  HARN_TRY(value, base::parse_json(text));
  HostFacts facts;
  HARN_OK(plan::Json<HostFacts>::read(value, facts));
  return facts;
}

}  // namespace harn
