// SPDX-License-Identifier: Apache-2.0
// Building the view. Sources and places are opened without following a single link: they were
// resolved when the plan was made, and whoever could plant a link since must not redirect a mount.
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "run/child/replay.h"

namespace harn::run::child {
namespace {

constexpr const char* hidden_directory = "d";
constexpr const char* hidden_file = "f";

Word close_after(Word fd, Word result) {
  raw_syscall(SYS_close, fd);
  return result;
}

Word open_place(Word base, const char* path) {
  const open_how how = {.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .mode = 0, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  return raw_syscall(SYS_openat2, base, word_of(path), word_of(&how), sizeof how);
}

Word set_attributes(Word mount, std::uint64_t attributes, bool recursive) {
  mount_attr wanted = {.attr_set = attributes, .attr_clr = 0, .propagation = MS_PRIVATE, .userns_fd = 0};
  return raw_syscall(SYS_mount_setattr, mount, word_of(""), AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), word_of(&wanted),
                     sizeof wanted);
}

Word attach(Word mount, Word place) {
  return raw_syscall(SYS_move_mount, mount, word_of(""), place, word_of(""), MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

// On top of the old root, where nothing we still need to look up is hidden.
Word attach_over_root(const Launch& launch, Word mount) {
  if (launch.hidden_apart) return attach(mount, launch.hidden_fd);
  const Word old_root = raw_syscall(SYS_openat, AT_FDCWD, word_of("/"), O_PATH | O_CLOEXEC);
  return old_root < 0 ? old_root : close_after(old_root, attach(mount, old_root));
}

Word become_root(Launch& launch, Word mount) {
  if (mount < 0) return mount;
  launch.root_fd = static_cast<int>(mount);
  return attach_over_root(launch, mount);
}

// "mode=1777,size=64m": each pair is one setting.
Word configure(Word context, const char* options) {
  char key[16];
  char value[32];
  while (options != nullptr && *options != '\0') {
    std::size_t k = 0;
    std::size_t v = 0;
    for (; *options != '\0' && *options != '=' && *options != ','; ++options)
      if (k + 1 < sizeof key) key[k++] = *options;
    if (*options == '=')
      for (++options; *options != '\0' && *options != ','; ++options)
        if (v + 1 < sizeof value) value[v++] = *options;
    key[k] = value[v] = '\0';
    if (*options == ',') ++options;
    const Word result = v == 0 ? raw_syscall(SYS_fsconfig, context, FSCONFIG_SET_FLAG, word_of(key), 0, 0)
                               : raw_syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, word_of(key), word_of(value), 0);
    if (result < 0) return result;
  }
  return raw_syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, 0, 0, 0);
}

Word fresh(const char* kind, const char* options, std::uint64_t attributes) {
  const Word context = raw_syscall(SYS_fsopen, word_of(kind), FSOPEN_CLOEXEC);
  if (context < 0) return context;
  const Word made = configure(context, options);
  if (made < 0) return close_after(context, made);
  return close_after(context, raw_syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, static_cast<Word>(attributes)));
}

// In a directory of our own nobody else can have put a link, so its name will do.
Word attach_in_own(const Launch& launch, Word mount, const char* where) {
  if (mount < 0) return mount;
  return close_after(mount, raw_syscall(SYS_move_mount, mount, word_of(""), launch.root_fd, word_of(where), MOVE_MOUNT_F_EMPTY_PATH));
}

Word attach_at(const Launch& launch, Word mount, const char* where) {
  if (mount < 0) return mount;
  const Word place = open_place(launch.root_fd, where);
  if (place < 0) return close_after(mount, place);
  return close_after(place, close_after(mount, attach(mount, place)));
}

// Without attributes it stays as it is: remount follows.
Word copy_of(Word base, const char* source, std::uint64_t attributes) {
  const Word found = open_place(base, source);
  if (found < 0) return found;
  const Word copy = close_after(
      found, raw_syscall(SYS_open_tree, found, word_of(""), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH));
  if (copy < 0 || attributes == 0) return copy;
  const Word result = set_attributes(copy, attributes, /*recursive=*/true);
  return result < 0 ? close_after(copy, result) : copy;
}

// "/proc/self/fd/12": the kernel looks the directories of an overlay up by name, and this name is ours.
struct DescriptorName {
  char text[32] = {};
  explicit DescriptorName(Word fd) {
    constexpr const char* start = "/proc/self/fd/";
    char* to = text;
    for (const char* from = start; *from != '\0'; ++from) *to++ = *from;
    char digits[12];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + fd % 10);
    while ((fd /= 10) > 0);
    while (count > 0) *to++ = digits[--count];
  }
};

Word set_directory(Word context, const char* key, Word base, const char* path) {
  const Word fd = open_place(base, path);
  if (fd < 0) return fd;
  const DescriptorName name(fd);
  return close_after(fd, raw_syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, word_of(key), word_of(name.text), 0));
}

Word overlay(const char* below, const char* layer, std::uint64_t attributes) {
  const Word place = open_place(AT_FDCWD, layer);
  if (place < 0) return place;
  const Word context = raw_syscall(SYS_fsopen, word_of("overlay"), FSOPEN_CLOEXEC);
  if (context < 0) return close_after(place, context);
  Word result = set_directory(context, "lowerdir", AT_FDCWD, below);
  if (result >= 0) result = set_directory(context, "upperdir", place, "upper");
  if (result >= 0) result = set_directory(context, "workdir", place, "work");
  if (result >= 0) result = configure(context, "userxattr");
  if (result >= 0) result = raw_syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, static_cast<Word>(attributes));
  return close_after(place, close_after(context, result));
}

Word make_file(Launch& launch, const char* path) {
  const Word fd = raw_syscall(SYS_openat, launch.root_fd, word_of(path), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (fd == -EEXIST) return 0;
  return fd < 0 ? fd : close_after(fd, 0);
}

// Every file system costs its making and its end, so places of our own are parts of the one root: a
// copy of the directory, mounted over it, stays writable when the root is sealed.
Word mount_own(const Launch& launch, const Step& step) {
  if (step.more != 0) {
    const Word result = raw_syscall(SYS_fchmodat, launch.root_fd, word_of(step.text), static_cast<Word>(step.more));
    if (result < 0) return result;
  }
  return attach_in_own(launch, copy_of(launch.root_fd, step.text, step.mask), step.text);
}

// One directory and one file nobody can open, for copies to be shown elsewhere.
Word make_hidden(Launch& launch, const char* covered_later) {
  const Word place = covered_later != nullptr
                         ? open_place(launch.root_fd, covered_later)
                         : fresh("tmpfs", "mode=0755,size=65536", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (place < 0) return place;
  const Word attached = covered_later == nullptr ? attach_over_root(launch, place) : 0;
  launch.hidden_fd = static_cast<int>(place);
  launch.hidden_apart = covered_later == nullptr;
  Word result = attached;
  if (result >= 0) result = raw_syscall(SYS_mkdirat, place, word_of(hidden_directory), 0);
  if (result < 0) return result;
  const Word file = raw_syscall(SYS_openat, place, word_of(hidden_file), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
  return file < 0 ? file : close_after(file, 0);
}

Word hide(Launch& launch, const char* what, const Step& step) {
  return attach_at(launch, copy_of(launch.hidden_fd, what, step.mask), step.text);
}

Word remount(const Launch& launch, const Step& step) {
  const Word place = open_place(launch.root_fd, step.text);
  if (place < 0) return place;
  const DescriptorName name(place);
  Word result = raw_syscall(SYS_mount, 0, word_of(name.text), 0, MS_PRIVATE, 0);
  if (result >= 0) result = raw_syscall(SYS_mount, 0, word_of(name.text), 0, static_cast<Word>(MS_REMOUNT | MS_BIND | step.mask), 0);
  return close_after(place, result);
}

Word enter_root(Launch& launch) {
  Word result = raw_syscall(SYS_fchdir, launch.root_fd);
  if (result >= 0) result = raw_syscall(SYS_pivot_root, word_of("."), word_of("."));
  // The uppermost goes first: what hides, if anything does, then the old root with all it carries.
  if (result >= 0 && launch.hidden_apart) result = raw_syscall(SYS_umount2, word_of("."), MNT_DETACH);
  if (result >= 0) result = raw_syscall(SYS_umount2, word_of("."), MNT_DETACH);
  if (result >= 0) result = raw_syscall(SYS_chdir, word_of("/"));
  return result;
}

// A file of our own, shown in place of the host's: read-only, whoever asks.
Word show_text(Launch& launch, const Step& step) {
  const char name[] = {'t', static_cast<char>('a' + step.number), '\0'};
  const Word fd = raw_syscall(SYS_openat, launch.hidden_fd, word_of(name), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (fd < 0) return fd;
  Word length = 0;
  while (step.other[length] != '\0') ++length;
  const Word written = close_after(fd, raw_syscall(SYS_write, fd, word_of(step.other), length));
  if (written != length) return written < 0 ? written : -EIO;
  return attach_at(launch, copy_of(launch.hidden_fd, name, step.mask), step.text);
}

// Kept in the table of descriptors we share with whoever places it.
Word take_copy(Launch& launch, const Step& step) {
  const Word copy = copy_of(AT_FDCWD, step.other, step.mask);
  if (copy < 0) return copy;
  launch.gates[step.number] = static_cast<int>(copy);
  return 0;
}

Word open_view(Launch& launch) {
  const Word root = raw_syscall(SYS_openat, AT_FDCWD, word_of("/"), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return root;
  launch.root_fd = static_cast<int>(root);
  return 0;
}

// The root stays sealed for everybody inside: the way is made through a copy of its mount that is not, and that
// stands nowhere.
Word make_way(const Launch& launch, const Step& step) {
  const Word copy = raw_syscall(SYS_open_tree, launch.root_fd, word_of(""), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
  if (copy < 0) return copy;
  mount_attr open = {.attr_set = 0, .attr_clr = MOUNT_ATTR_RDONLY, .propagation = 0, .userns_fd = 0};
  Word result = raw_syscall(SYS_mount_setattr, copy, word_of(""), AT_EMPTY_PATH, word_of(&open), sizeof open);
  if (result >= 0 && step.mask == 0) result = raw_syscall(SYS_mkdirat, copy, word_of(step.text), 0755);
  else if (result >= 0) {
    const Word file = raw_syscall(SYS_openat, copy, word_of(step.text), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
    result = file < 0 ? file : close_after(file, 0);
  }
  return close_after(copy, result == -EEXIST ? 0 : result);
}

Word ignoring_existing(Word result) { return result == -EEXIST ? 0 : result; }

}  // namespace

Word build_view(Launch& launch, const Step& step) noexcept {
  const Word root = launch.root_fd;
  switch (step.op) {
    case Op::mount_root: return become_root(launch, fresh("tmpfs", step.text, step.mask));
    case Op::bind_root: return become_root(launch, copy_of(AT_FDCWD, step.text, step.mask));
    case Op::make_directory: return ignoring_existing(raw_syscall(SYS_mkdirat, root, word_of(step.text), static_cast<Word>(step.mask)));
    case Op::make_file: return make_file(launch, step.text);
    case Op::make_link: return ignoring_existing(raw_syscall(SYS_symlinkat, word_of(step.text), root, word_of(step.other)));
    case Op::mount_own: return mount_own(launch, step);
    case Op::mount_fresh: return attach_at(launch, fresh("tmpfs", step.other, step.mask), step.text);
    case Op::mount_proc: return attach_at(launch, fresh("proc", nullptr, step.mask), step.text);
    case Op::mount_terminals: return attach_at(launch, fresh("devpts", "newinstance,ptmxmode=0666,mode=0620", step.mask), step.text);
    case Op::bind: return attach_at(launch, copy_of(AT_FDCWD, step.other, step.mask), step.text);
    case Op::mount_overlay: return attach_at(launch, overlay(step.other, static_cast<const char*>(step.pointer), step.mask), step.text);
    case Op::bind_in_own: return attach_in_own(launch, copy_of(AT_FDCWD, step.other, step.mask), step.text);
    case Op::make_hidden: return make_hidden(launch, step.text);
    case Op::hide_directory: return hide(launch, hidden_directory, step);
    case Op::hide_file: return hide(launch, hidden_file, step);
    case Op::remount: return remount(launch, step);
    case Op::seal_mount: {
      const Word place = open_place(root, step.text);
      return place < 0 ? place : close_after(place, set_attributes(place, step.mask, /*recursive=*/false));
    }
    case Op::enter_root: return enter_root(launch);
    case Op::take_copy: return take_copy(launch, step);
    case Op::join_namespace: return raw_syscall(SYS_setns, step.number, static_cast<Word>(step.mask));
    case Op::open_view: return open_view(launch);
    case Op::make_way: return make_way(launch, step);
    case Op::place_copy: return attach_at(launch, launch.gates[step.number], step.text);
    case Op::show_text: return show_text(launch, step);
    default: return -EINVAL;
  }
}

}  // namespace harn::run::child
