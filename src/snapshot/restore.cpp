// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "snapshot/objects.h"
#include "snapshot/store.h"
#include "sys/files.h"
#include "sys/remove_tree.h"

namespace harn::snapshot {
namespace {

constexpr std::size_t most_names = 10'000'000;

std::int64_t nanos(const timespec& time) { return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec; }
timespec time_of(std::int64_t value) { return {.tv_sec = value / 1'000'000'000, .tv_nsec = value % 1'000'000'000}; }

// A name that is to be gone, whatever it is.
Status remove_at(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return fail(sys::os_failure("unlink", name, errno));
  const sys::UniqueFd below(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (below) sys::empty_directory(below.get());
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0) return fail(sys::os_failure("rmdir", name, errno));
  return {};
}

struct Node {
  const Entry* entry = nullptr;
  std::map<std::string, Node> below = {};
};

Status plant(const std::vector<Entry>& entries, Node& root) {
  for (const auto& entry : entries) {
    Node* at = &root;
    for (const auto part : base::split(entry.path, '/')) {
      // Our own file, and still: nothing in it may lead out of the tree.
      if (part.empty() || part == "." || part == "..")
        return fail(Error{.code = ErrorCode::protocol, .stage = Stage::load, .message = "the snapshot names a path that leads out of it"});
      at = &at->below[std::string(part)];
    }
    at->entry = &entry;
  }
  return {};
}

class Restorer {
 public:
  explicit Restorer(const Objects& objects) : objects_(objects) {}

  Status directory(int fd, const Node& node) {
    HARN_TRY(names, sys::list_directory(fd, most_names));
    for (const auto& name : names)
      if (!node.below.contains(name)) HARN_OK(remove_at(fd, name));
    for (const auto& [name, below] : node.below)
      if (below.entry != nullptr) HARN_OK(one(fd, name, below));
    return {};
  }

 private:
  static bool is_same(const struct stat& now, const Entry& then) {
    return S_ISREG(now.st_mode) && then.type == Type::file && now.st_ino == then.inode &&
           static_cast<std::uint64_t>(now.st_size) == then.size && nanos(now.st_mtim) == then.changed_ns &&
           nanos(now.st_ctim) == then.touched_ns;
  }

  Status one(int fd, const std::string& name, const Node& node) {
    const auto& entry = *node.entry;
    struct stat now = {};
    const bool there = ::fstatat(fd, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && is_same(now, entry)) return {};
    if (there && !(S_ISDIR(now.st_mode) && entry.type == Type::directory)) HARN_OK(remove_at(fd, name));
    switch (entry.type) {
      case Type::directory: HARN_OK(make_directory(fd, name, node)); break;
      case Type::file: HARN_OK(objects_.put(entry.content, fd, name, entry.mode)); break;
      case Type::link:
        if (::symlinkat(entry.content.c_str(), fd, name.c_str()) != 0) return fail(sys::os_failure("symlink", entry.path, errno));
        break;
    }
    const timespec times[] = {time_of(entry.changed_ns), time_of(entry.changed_ns)};
    ::utimensat(fd, name.c_str(), times, AT_SYMLINK_NOFOLLOW);
    return {};
  }

  Status make_directory(int fd, const std::string& name, const Node& node) {
    if (::mkdirat(fd, name.c_str(), 0700) != 0 && errno != EEXIST) return fail(sys::os_failure("mkdir", node.entry->path, errno));
    const sys::UniqueFd below(::openat(fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below) return fail(sys::os_failure("open", node.entry->path, errno));
    HARN_OK(directory(below.get(), node));
    if (::fchmod(below.get(), node.entry->mode) != 0) return fail(sys::os_failure("chmod", node.entry->path, errno));
    return {};
  }

  const Objects& objects_;
};

}  // namespace

Status Store::restore(const Listed& tree, const AbsPath& to) const {
  HARN_TRY(objects, Objects::open(place_));
  HARN_TRY(root, sys::open_directory(to));
  Node node;
  HARN_OK(plant(tree.entries, node));
  return Restorer(objects).directory(root.get(), node);
}

}  // namespace harn::snapshot
