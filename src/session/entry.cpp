// SPDX-License-Identifier: Apache-2.0
#include "session/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <tuple>

#include "session/network.h"
#include "session/packing.h"
#include "session/short_lived_file.h"
#include "sys/files.h"

namespace harn::session {

// Every member is named, or this does not compile.
template <class With, class T>
  requires std::is_same_v<std::remove_const_t<T>, Shown>
void walk(With& with, T& value) {
  auto& [target, source, access, own] = value;
  (with(target), with(source), with(access), with(own));
}

template <class With, class T>
  requires std::is_same_v<std::remove_const_t<T>, EnvRules>
void walk(With& with, T& value) {
  auto& [mode, set, remove, passthrough, strip] = value;
  (with(mode), with(set), with(remove), with(passthrough), with(strip));
}

template <class With, class T>
  requires std::is_same_v<std::remove_const_t<T>, sys::CgroupPlaces>
void walk(With& with, T& value) {
  auto& [kind, directories] = value;
  (with(kind), with(directories));
}

template <class With, class T>
  requires std::is_same_v<std::remove_const_t<T>, ResourceLimit>
void walk(With& with, T& value) {
  auto& [name, soft, hard] = value;
  (with(name), with(soft), with(hard));
}

template <class With, class T>
  requires std::is_same_v<std::remove_const_t<T>, LimitPlan>
void walk(With& with, T& value) {
  auto& [rlimits, cgroup, watched, wall_time_ms, idle_timeout_ms, max_output_bytes] = value;
  (with(rlimits), with(cgroup), with(watched), with(wall_time_ms), with(idle_timeout_ms), with(max_output_bytes));
}

template <class With, class T>
  requires std::is_same_v<std::remove_const_t<T>, Entry>
void walk(With& with, T& value) {
  auto& [id, backend, boot_id, socket, root, mounts, workspace_roots, read_only_roots, env, env_added, blocked_commands, network_closed,
         relay_secret, arch, proofs, plan_digest, sleep, cgroups, plan_backend, profile, limits, watched_names] = value;
  (with(id), with(backend), with(boot_id), with(socket), with(root), with(mounts), with(workspace_roots), with(read_only_roots));
  (with(env), with(env_added), with(blocked_commands), with(network_closed), with(relay_secret), with(arch), with(proofs),
   with(plan_digest), with(sleep));
  (with(cgroups), with(plan_backend), with(profile), with(limits), with(watched_names));
}

namespace {

// Another meaning of the same members needs another number.
constexpr std::uint64_t meaning = 2;
constexpr std::size_t longest_entry = 4u << 20;

struct Head {
  std::uint64_t meaning = session::meaning;
  std::uint64_t shape = 0;
  RecordMark mark = {};
};

std::uint64_t shape_here() {
  Shape shape;
  shape(Entry{});
  return shape.sum();
}

AbsPath file_in(const AbsPath& place) { return place.join("entry"); }

}  // namespace

Entry entry_of(const Record& record, const Policy& policy, const Plan& light) {
  const auto* linux = std::get_if<LinuxConfinement>(&light.confinement);
  Entry out{.id = record.id,
            .backend = record.backend,
            .boot_id = record.boot_id,
            .socket = record.socket,
            .root = record.root,
            .mounts = record.mounts,
            .workspace_roots = entries(policy.workspace_roots),
            .read_only_roots = entries(policy.read_only_roots),
            .env = policy.env,
            .env_added = record.env_added,
            .blocked_commands = policy.blocked_commands,
            .network_closed = is_closed(record, policy),
            .relay_secret = record.network.allowed_hosts.empty() ? std::string() : record.relay_secret,
            .arch = linux != nullptr && linux->syscalls ? linux->syscalls->arch : std::string(),
            .proofs = record.proofs,
            .plan_digest = record.plan_digest,
            .sleep = record.sleep,
            .cgroups = record.cgroups,
            .plan_backend = light.backend,
            .profile = light.profile,
            .limits = light.limits};
  for (const auto& gap : light.coverage.gaps)
    if (gap.code == "absent_protected_name") out.watched_names.insert(out.watched_names.end(), gap.paths.begin(), gap.paths.end());
  return out;
}

std::string pack(const Entry& entry) {
  Packer packer;
  packer(entry);
  return std::move(packer).take();
}

std::optional<Entry> unpack(std::string_view bytes) {
  Unpacker unpacker(bytes);
  std::optional<Entry> entry(std::in_place);
  unpacker(*entry);
  if (!unpacker.whole()) entry.reset();
  return entry;
}

std::optional<RecordMark> mark_of(const AbsPath& place) {
  struct stat status = {};
  if (::stat(place.join("session.json").text().c_str(), &status) != 0) return std::nullopt;
  return RecordMark{.inode = status.st_ino,
                    .size = static_cast<std::uint64_t>(status.st_size),
                    .changed_ns = std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
}

std::optional<Entry> find_entry(const AbsPath& place) {
  const sys::UniqueFd fd(::open(file_in(place).text().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::array<char, 16384> buffer;
  const auto got = ::read(fd.get(), buffer.data(), buffer.size());
  if (got < static_cast<ssize_t>(sizeof(Head))) return std::nullopt;
  std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  std::string more;
  if (bytes.size() == buffer.size()) {
    auto all = sys::read_file(file_in(place), longest_entry);
    if (!all) return std::nullopt;
    more = std::move(*all);
    bytes = more;
  }
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.meaning != meaning || head.shape != shape_here() || head.mark != mark_of(place)) return std::nullopt;
  return unpack(bytes.substr(sizeof head));
}

void keep_entry(const AbsPath& place, const Entry& entry, const RecordMark& mark) {
  const Head head{.shape = shape_here(), .mark = mark};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += pack(entry);
  std::ignore = replace_short_lived(file_in(place), bytes);
}

void drop_entry(const AbsPath& place) { ::unlink(file_in(place).text().c_str()); }

}  // namespace harn::session
