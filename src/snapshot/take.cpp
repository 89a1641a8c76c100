// SPDX-License-Identifier: Apache-2.0
// Reading directories that somebody hostile may have filled: everything is opened beneath a descriptor, no link
// is followed, and nothing that is not a plain file is opened at all.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "snapshot/hash.h"
#include "snapshot/objects.h"
#include "snapshot/store.h"
#include "sys/files.h"

namespace harn::snapshot {
namespace {

constexpr std::size_t most_names = 10'000'000;
constexpr std::size_t longest_list = std::size_t{4} << 30;
constexpr int deepest = 512;
constexpr unsigned mode_bits = 07777;

std::int64_t nanos(const timespec& time) { return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec; }

class Taker {
 public:
  Taker(const Objects& objects, Snapshot& out, const Listed* before) : objects_(objects), out_(out) {
    if (before == nullptr) return;
    for (const auto& entry : before->entries) known_.emplace(entry.path, &entry);
  }

  Status tree(const Tree& tree) {
    name_ = tree.name;
    out_.trees.push_back({.tree = tree.name});
    HARN_TRY(root, sys::open_directory(tree.place));
    return directory(root.get(), "", 0);
  }

 private:
  std::vector<Entry>& entries() { return out_.trees.back().entries; }

  Status directory(int fd, const std::string& prefix, int depth) {
    if (depth > deepest)
      return fail(Error{.code = ErrorCode::io,
                        .stage = Stage::load,
                        .message = fmt::format("{} is nested too deeply for a snapshot", base::quoted(prefix)),
                        .hint = "remove what is down there"});
    HARN_TRY(names, sys::list_directory(fd, most_names));
    for (const auto& name : names) HARN_OK(one(fd, name, prefix.empty() ? name : prefix + "/" + name, depth));
    return {};
  }

  Status one(int directory_fd, const std::string& name, const std::string& path, int depth) {
    struct stat status = {};
    if (::fstatat(directory_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};
      return fail(sys::os_failure("stat", path, errno));
    }
    Entry entry{.path = path,
                .mode = status.st_mode & mode_bits,
                .changed_ns = nanos(status.st_mtim),
                .touched_ns = nanos(status.st_ctim),
                .inode = status.st_ino};
    if (S_ISDIR(status.st_mode)) {
      entry.type = Type::directory;
      const sys::UniqueFd below(::openat(directory_fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!below) return fail(sys::os_failure("open", path, errno));
      entries().push_back(std::move(entry));
      return directory(below.get(), path, depth + 1);
    }
    if (S_ISLNK(status.st_mode)) {
      entry.type = Type::link;
      HARN_TRY(text, sys::link_text(directory_fd, name));
      entry.content = std::move(text);
      entries().push_back(std::move(entry));
      return {};
    }
    if (!S_ISREG(status.st_mode)) {
      out_.skipped.push_back(name_ + ":" + path);
      return {};
    }
    return file(directory_fd, name, std::move(entry), static_cast<std::uint64_t>(status.st_size));
  }

  // Its inode, its size and the time its owner cannot set say that it is the same.
  bool is_known(Entry& entry, std::uint64_t size) const {
    const auto found = known_.find(entry.path);
    if (found == known_.end()) return false;
    const auto& then = *found->second;
    const bool same = then.type == Type::file && then.inode == entry.inode && then.size == size && then.touched_ns == entry.touched_ns &&
                      then.changed_ns == entry.changed_ns;
    if (same) entry.content = then.content;
    return same;
  }

  Status file(int directory_fd, const std::string& name, Entry entry, std::uint64_t size) {
    entry.size = size;
    if (!is_known(entry, size)) {
      const sys::UniqueFd fd(::openat(directory_fd, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (!fd) return fail(sys::os_failure("open", entry.path, errno));
      struct stat held = {};
      if (::fstat(fd.get(), &held) != 0 || !S_ISREG(held.st_mode) || held.st_ino != entry.inode)
        return fail(sys::os_failure("open", entry.path, ESTALE));
      HARN_TRY(kept, objects_.keep(fd.get(), entry.path));
      entry.content = kept.hash;
      entry.size = kept.bytes;
      if (kept.is_new) out_.new_bytes += kept.bytes;
    }
    out_.bytes += entry.size;
    ++out_.files;
    entries().push_back(std::move(entry));
    return {};
  }

  const Objects& objects_;
  Snapshot& out_;
  std::string name_ = {};
  std::unordered_map<std::string, const Entry*> known_ = {};
};

}  // namespace

Result<Snapshot> Store::take(const std::vector<Tree>& trees, Snapshot named, const Snapshot* before) const {
  HARN_OK(sys::make_directories(place_.join("lists")));
  if (sys::type_of(list_of(named.id)) != sys::FileType::missing)
    return fail(Error{.code = ErrorCode::invalid_command,
                      .stage = Stage::load,
                      .os_error = EEXIST,
                      .message = fmt::format("there is a snapshot {} already", base::quoted(named.id)),
                      .hint = "choose another name, or remove it"});
  HARN_TRY(objects, Objects::open(place_));
  for (const auto& tree : trees) {
    const Listed* then = nullptr;
    if (before != nullptr)
      for (const auto& listed : before->trees)
        if (listed.tree == tree.name) then = &listed;
    HARN_OK(Taker(objects, named, then).tree(tree));
  }
  // First what it refers to, then the list itself: it exists as a whole or not at all.
  if (named.new_bytes != 0) HARN_OK(objects.settle());
  HARN_OK(sys::replace_file(list_of(named.id), print_snapshot(named)));
  return named;
}

Result<Snapshot> Store::load(const std::string& id) const {
  HARN_TRY(text, sys::read_file(list_of(id), longest_list));
  return parse_snapshot(text);
}

Result<std::vector<std::string>> Store::ids() const {
  auto names = sys::list_directory(place_.join("lists"), most_names);
  if (!names && names.error().os_error == ENOENT) return std::vector<std::string>();
  if (!names) return fail(std::move(names).error());
  // A list that is being written has a name of its own until it is whole.
  std::erase_if(*names, [](const std::string& name) { return name.starts_with('.'); });
  return std::move(*names);
}

Status Store::remove(const std::string& id) const {
  if (::unlink(list_of(id).text().c_str()) != 0) return fail(sys::os_failure("unlink", list_of(id).text(), errno));
  HARN_TRY(objects, Objects::open(place_));
  std::set<std::string> used;
  HARN_TRY(names, ids());
  for (const auto& name : names) {
    HARN_TRY(other, load(name));
    for (const auto& tree : other.trees)
      for (const auto& entry : tree.entries)
        if (entry.type == Type::file) used.insert(entry.content);
  }
  return objects.remove_unused(used);
}

}  // namespace harn::snapshot
