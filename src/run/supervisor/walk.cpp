// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor/walk.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/vfs.h>

namespace harn::run::supervisor {
namespace {

constexpr int most_links = 40;  // as the kernel
constexpr std::size_t longest_name = 255;
constexpr Word look = O_PATH | O_NOFOLLOW | O_CLOEXEC;
constexpr std::uint64_t proc_root_inode = 1;

using LongText = Text<4 * longest_path>;

Word stat_at(int directory, const char* name, struct stat& out) {
  return raw_syscall(SYS_newfstatat, directory, word_of(name), word_of(&out), *name == '\0' ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW);
}

template <std::size_t capacity>
Word read_link(int directory, const char* name, Text<capacity>& out) {
  out.clear();
  const Word got = raw_syscall(SYS_readlinkat, directory, word_of(name), word_of(out.bytes()), capacity - 1);
  if (got < 0) return got;
  if (static_cast<std::size_t>(got) == capacity - 1) return -ENAMETOOLONG;
  out.cut(static_cast<std::size_t>(got));
  return 0;
}

// Where an object is now, as the kernel tells it. What was unlinked counts where it was, also while another
// link of it lives; unless the suffix is part of a name that is really there.
Word where(int fd, PathText& out) {
  ShortText link;
  if (const Word result = read_link(AT_FDCWD, own_descriptor(fd, link).c_str(), out); result < 0) return -EACCES;
  constexpr std::string_view gone = " (deleted)";
  if (!out.view().ends_with(gone)) return 0;
  struct stat status = {};
  struct stat named = {};
  if (stat_at(fd, "", status) < 0) return -EACCES;
  const bool there = stat_at(AT_FDCWD, out.c_str(), named) == 0 && named.st_dev == status.st_dev && named.st_ino == status.st_ino;
  if (!there) out.cut(out.view().size() - gone.size());
  return 0;
}

class Walker {
 public:
  Walker(const Caller& caller, Last last, Place& place) : caller_(caller), last_(last), place_(place) {}

  Word run(int start, std::string_view path) {
    if (path.empty()) return -ENOENT;
    if (const Word result = begin(start, path); result < 0) return result;
    bool over = false;
    while (!over)
      if (const Word result = step(over); result < 0) return describe(result);
    return finish();
  }

 private:
  // Most paths hold no link on their way: one call goes there, or the long way is taken.
  Word begin(int start, std::string_view path) {
    if (path.front() == '/') to_root();
    else if (const Word result = caller_.open_directory(start, here_); result < 0) return result;
    auto end = path.size();
    while (end > 0 && path[end - 1] == '/') --end;
    const auto slash = path.substr(0, end).rfind('/');
    const auto way = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1);
    if (!way.empty() && rest_.add(way).fits()) {
      const open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_NO_SYMLINKS};
      Fd there(raw_syscall(SYS_openat2, here_.get(), word_of(rest_.c_str()), word_of(&how), sizeof how));
      if (there) {
        here_ = static_cast<Fd&&>(there);
        path.remove_prefix(way.size());
      }
    }
    rest_.clear().add(path);
    return here_ ? 0 : -EACCES;
  }

  void to_root() { here_ = Fd(raw_syscall(SYS_openat, AT_FDCWD, word_of("/"), O_PATH | O_DIRECTORY | O_CLOEXEC)); }

  Word step(bool& over) {
    auto rest = rest_.view().substr(at_);
    while (!rest.empty() && rest.front() == '/') rest.remove_prefix(1);
    const auto name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(name.size());
    place_.slash = !rest.empty();
    at_ = rest_.view().size() - rest.size();
    while (!rest.empty() && rest.front() == '/') rest.remove_prefix(1);
    const bool last = rest.empty();
    if (name.size() > longest_name) return -ENAMETOOLONG;
    if (name.empty() || name == ".") return stay(End::self, last, over);
    if (name == "..") {
      Fd up(raw_syscall(SYS_openat, here_.get(), word_of(".."), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (!up) return -EACCES;
      here_ = static_cast<Fd&&>(up);
      return stay(End::above, last, over);
    }
    place_.name.clear().add(name);
    return last ? arrive(over) : pass();
  }

  Word stay(End end, bool last, bool& over) {
    place_.end = end;
    over = last;
    return 0;
  }

  Word pass() {
    const Word fd = raw_syscall(SYS_openat, here_.get(), word_of(place_.name.c_str()), look);
    if (fd < 0) return fd;
    Fd next(fd);
    struct stat status = {};
    if (const Word result = stat_at(next.get(), "", status); result < 0) return result;
    if (S_ISLNK(status.st_mode)) return follow(status);
    if (!S_ISDIR(status.st_mode)) return -ENOTDIR;
    here_ = static_cast<Fd&&>(next);
    return 0;
  }

  Word arrive(bool& over) {
    struct stat status = {};
    const Word result = stat_at(here_.get(), place_.name.c_str(), status);
    if (result < 0 && result != -ENOENT) return result;
    place_.exists = result == 0;
    place_.mode = status.st_mode;
    if (place_.exists && S_ISLNK(status.st_mode) && (last_ == Last::follow || place_.slash)) {
      const Word followed = follow(status);
      over = followed == 0 && place_.end == End::object;
      return followed;
    }
    place_.end = End::name;
    over = true;
    return 0;
  }

  Word follow(const struct stat& link) {
    if (++links_ > most_links) return -ELOOP;
    struct statfs system = {};
    struct stat directory = {};
    if (raw_syscall(SYS_fstatfs, here_.get(), word_of(&system)) < 0 || stat_at(here_.get(), "", directory) < 0) return -EACCES;
    if (system.f_type == PROC_SUPER_MAGIC) return follow_in_proc(directory.st_ino == proc_root_inode);
    // As fs.protected_symlinks: in a directory for everybody, only links of one's own or of its owner.
    constexpr unsigned for_everybody = S_ISVTX | S_IWOTH;
    const bool foreign = link.st_uid != static_cast<unsigned>(raw_syscall(SYS_geteuid)) && link.st_uid != directory.st_uid;
    if ((directory.st_mode & for_everybody) == for_everybody && foreign) return -EACCES;
    return go_by_text();
  }

  Word go_by_text() {
    if (const Word result = read_link(here_.get(), place_.name.c_str(), target_); result < 0) return result;
    return go_on_with(target_.view());
  }

  Word go_on_with(std::string_view text) {
    if (text.empty()) return -ENOENT;
    spare_.clear().add(text).add(rest_.view().substr(at_));
    if (!spare_.fits()) return -ENAMETOOLONG;
    rest_.clear().add(spare_.view());
    at_ = 0;
    if (text.front() == '/') to_root();
    return here_ ? 0 : -EACCES;
  }

  // "self" is the caller, not us; and the links of a process that lead to objects are followed for the
  // caller itself only: through ours it would reach what we hold.
  Word follow_in_proc(bool at_root) {
    const auto name = place_.name.view();
    const bool self = at_root && name == "self";
    const bool thread = at_root && name == "thread-self";
    if (at_root && !self && !thread) return go_by_text();
    const auto process = caller_.process();
    if (process == 0) return -EACCES;
    ShortText text;
    text.add_number(process);
    if (thread) text.add("/task/").add_number(caller_.thread());
    if (self || thread) return go_on_with(text.view());
    if (where(here_.get(), target_) < 0) return -EACCES;
    constexpr std::string_view proc = "/proc/";
    std::uint64_t number = 0;
    if (!target_.view().starts_with(proc) || read_number(target_.view().substr(proc.size()), number) == 0) return go_by_text();
    if (number != process && number != caller_.thread()) return -EACCES;
    const Word fd = raw_syscall(SYS_openat, here_.get(), word_of(place_.name.c_str()), O_PATH | O_CLOEXEC);
    if (fd < 0) return fd;
    return caller_.waits() ? jump(Fd(fd)) : -ESRCH;
  }

  Word jump(Fd object) {
    struct stat status = {};
    if (stat_at(object.get(), "", status) < 0) return -EACCES;
    auto rest = rest_.view().substr(at_);
    while (!rest.empty() && rest.front() == '/') rest.remove_prefix(1);
    if (rest.empty()) {
      place_.end = End::object;
      place_.exists = true;
      place_.mode = status.st_mode;
      place_.object = static_cast<Fd&&>(object);
      return place_.slash && !S_ISDIR(status.st_mode) ? -ENOTDIR : 0;
    }
    if (!S_ISDIR(status.st_mode)) return -ENOTDIR;
    here_ = static_cast<Fd&&>(object);
    return 0;
  }

  // Where it would have led: as far as it was followed, then by its text. Nothing is decided by it.
  Word describe(Word error) {
    auto& path = place_.path;
    if (!here_ || where(here_.get(), path) < 0 || path.view().front() != '/') path.clear();
    else if (path.view() == "/") path.clear();
    if (!path.add("/").add(place_.name.view()).add(rest_.view().substr(at_)).fits()) path.clear();
    return error;
  }

  Word finish() {
    place_.directory = static_cast<Fd&&>(here_);
    if (place_.end == End::object) return where(place_.object.get(), place_.path);
    if (const Word result = where(place_.directory.get(), place_.around); result < 0) return result;
    if (place_.around.view().empty() || place_.around.view().front() != '/') return -EACCES;
    place_.path.clear().add(place_.around.view());
    if (place_.end != End::name) {
      place_.exists = true;
      place_.mode = S_IFDIR;
      return 0;
    }
    if (place_.around.view() != "/") place_.path.add("/");
    return place_.path.add(place_.name.view()).fits() ? 0 : -ENAMETOOLONG;
  }

  const Caller& caller_;
  Last last_;
  Place& place_;
  Fd here_ = {};
  LongText rest_ = {};  // still to go, from at_ on
  std::size_t at_ = 0;
  LongText spare_ = {};
  PathText target_ = {};
  int links_ = 0;
};

}  // namespace

Word walk(const Caller& caller, int start, std::string_view path, Last last, Place& place) {
  return Walker(caller, last, place).run(start, path);
}

Word walk_descriptor(const Caller& caller, int descriptor, Place& place) {
  if (const Word result = caller.open_object(descriptor, place.object); result < 0) return result;
  struct stat status = {};
  if (stat_at(place.object.get(), "", status) < 0) return -EACCES;
  place.end = End::object;
  place.exists = true;
  place.mode = status.st_mode;
  return where(place.object.get(), place.path);
}

Word hold(const Place& place, Fd& out) {
  const int from = place.end == End::object ? place.object.get() : place.directory.get();
  if (place.end != End::name) {
    out = Fd(raw_syscall(SYS_fcntl, from, F_DUPFD_CLOEXEC, 0));
    return out ? 0 : -EACCES;
  }
  const Word fd = raw_syscall(SYS_openat, from, word_of(place.name.c_str()), look);
  out = Fd(fd);
  return fd < 0 ? fd : 0;
}

}  // namespace harn::run::supervisor
