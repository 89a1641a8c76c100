// SPDX-License-Identifier: Apache-2.0
// Ways to change what is mounted where. The control run mounts only in a namespace of its own, which
// ends with the probe.
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

// Where it is refused the act itself is still tried: inside there is a namespace of one's own already.
void step_aside() {
  if (::unshare(CLONE_NEWNS) == 0) ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
}

int mount_fresh(Args args) {
  step_aside();
  return verdict(::mount("none", args[0].c_str(), "tmpfs", 0, nullptr));
}

int mount_bind(Args args) {
  step_aside();
  return verdict(::mount(args[0].c_str(), args[1].c_str(), nullptr, MS_BIND, nullptr));
}

int remount_writable(Args args) {
  step_aside();
  return verdict_past(::mount(nullptr, args[0].c_str(), nullptr, MS_REMOUNT | MS_BIND, nullptr), EINVAL);
}

// Nothing is mounted there: EINVAL comes after the permission.
int unmount(Args args) {
  step_aside();
  return verdict_past(::umount2(args[0].c_str(), MNT_DETACH), EINVAL);
}

int mount_proc(Args args) {
  step_aside();
  return verdict(::mount("proc", args[0].c_str(), "proc", 0, nullptr));
}

int open_mount(Args) { return verdict(::syscall(SYS_fsopen, "tmpfs", 0)); }
int pick_mount(Args args) { return verdict(::syscall(SYS_fspick, AT_FDCWD, args[0].c_str(), 0)); }
int open_tree(Args args) { return verdict(::syscall(SYS_open_tree, AT_FDCWD, args[0].c_str(), 0)); }
int clone_tree(Args args) { return verdict(::syscall(SYS_open_tree, AT_FDCWD, args[0].c_str(), OPEN_TREE_CLONE)); }

int move_tree(Args args) {
  step_aside();
  const long tree = ::syscall(SYS_open_tree, AT_FDCWD, args[0].c_str(), OPEN_TREE_CLONE);
  if (tree < 0) return errno;
  return verdict(::syscall(SYS_move_mount, tree, "", AT_FDCWD, args[1].c_str(), MOVE_MOUNT_F_EMPTY_PATH));
}

// An empty change of a path that is no mount: EINVAL comes after the permission.
int set_attributes(Args args) {
  step_aside();
  const mount_attr nothing = {};
  return verdict_past(::syscall(SYS_mount_setattr, AT_FDCWD, args[0].c_str(), 0, &nothing, sizeof nothing), EINVAL);
}

int change_root(Args args) { return verdict(::chroot(args[0].c_str())); }

// Never a mount point of its own, so EBUSY is as far as it goes.
int pivot(Args args) {
  step_aside();
  return verdict_past(::syscall(SYS_pivot_root, args[0].c_str(), args[0].c_str()), EBUSY);
}

constexpr Probe table[] = {
    {"mount_fresh", mount_fresh},
    {"mount_bind", mount_bind},
    {"mount_proc", mount_proc},
    {"remount_writable", remount_writable},
    {"unmount", unmount},
    {"fsopen", open_mount},
    {"fspick", pick_mount},
    {"open_tree", open_tree},
    {"clone_tree", clone_tree},
    {"move_tree", move_tree},
    {"mount_setattr", set_attributes},
    {"chroot", change_root},
    {"pivot_root", pivot},
};

}  // namespace

Probes mounts() { return table; }

}  // namespace probe
