// SPDX-License-Identifier: Apache-2.0
// A command cannot create, change, remove or move anything outside its writable grants. What it may
// write in a private place nobody outside ever sees.
#include "confine/support/case.h"

namespace harn::confine {
namespace {

const Case cases[] = {
    {.id = "open", .probe = "open_write", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "append", .probe = "open_append", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "truncate_by_open", .probe = "open_truncate", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "truncate_by_path", .probe = "truncate", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "truncate_while_reading", .probe = "truncate_reading", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "create", .probe = "create", .args = {"{own}/new"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "climb", .probe = "create", .args = {"../outside/climb/new"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "planted_link", .probe = "create", .args = {"{work}/way_out/planted_link/new"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "link_of_its_own", .probe = "write_through_link", .args = {"{own}/secret", "{work}/bin/link1"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "hard_link_of_its_own", .probe = "write_through_hard_link", .args = {"{own}/secret", "{work}/bin/hard1"}, .view = "ENOENT", .bare = "EACCES EXDEV", .critical = true},
    {.id = "proc_root", .probe = "create", .args = {"/proc/self/root{own}/new"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "directory_of_another", .probe = "create", .args = {"/proc/{pid}/cwd/directory_of_another/new"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "mkdir", .probe = "mkdir", .args = {"{own}/new"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "rmdir", .probe = "rmdir", .args = {"{own}/directory"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "unlink", .probe = "unlink", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "rename_within", .probe = "rename", .args = {"{own}/secret", "{own}/moved"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "rename_out", .probe = "rename", .args = {"{work}/.git/HEAD", "{own}/moved"}, .view = "ENOENT", .bare = "EACCES EXDEV", .critical = true},
    {.id = "exchange", .probe = "exchange", .args = {"{own}/secret", "{own}/other"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "exchange_across", .probe = "exchange", .args = {"{work}/file", "{own}/other"}, .view = "ENOENT", .bare = "EACCES EXDEV"},
    {.id = "whiteout", .probe = "whiteout", .args = {"{own}/secret", "{own}/moved"}, .view = "ENOENT", .bare = "EACCES EPERM", .control = Control::root},
    {.id = "symlink", .probe = "symlink", .args = {"x", "{own}/new"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "hard_link_out", .probe = "link", .args = {"{work}/deep/open", "{own}/new"}, .view = "ENOENT", .bare = "EACCES EXDEV", .critical = true},
    {.id = "temporary_file", .probe = "temporary_in", .args = {"{own}"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "temporary_file_named_outside", .probe = "temporary_named", .args = {"{work}", "{own}/new"}, .view = "ENOENT", .bare = "EACCES EXDEV"},
    {.id = "mkfifo", .probe = "mkfifo", .args = {"{own}/new"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "mknod", .probe = "mknod", .args = {"{own}/new"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "bind_a_socket", .probe = "bind_socket", .args = {"{own}/new"}, .view = "ENOENT", .bare = "EPERM"},
    {.id = "read_only_create", .probe = "create", .args = {"{shared}/new"}, .view = "EROFS", .bare = "EACCES", .critical = true},
    {.id = "read_only_open", .probe = "open_write", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES", .critical = true},
    {.id = "read_only_truncate", .probe = "truncate", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES", .critical = true},
    {.id = "read_only_link_out", .probe = "write_through_hard_link", .args = {"{shared}/file", "{work}/bin/hard2"}, .view = "EXDEV", .bare = "EACCES EXDEV"},
    {.id = "read_only_rename_in", .probe = "rename", .args = {"{work}/deep/open", "{shared}/open"}, .view = "EXDEV", .bare = "EACCES EXDEV"},
    {.id = "read_only_mkdir", .probe = "mkdir", .args = {"{shared}/new_directory"}, .view = "EROFS", .bare = "EACCES"},
    {.id = "read_only_rmdir", .probe = "rmdir", .args = {"{shared}/directory"}, .view = "EROFS", .bare = "EACCES"},
    {.id = "read_only_unlink", .probe = "unlink", .args = {"{shared}/file"}, .view = "EROFS", .bare = "EACCES"},
    {.id = "nested_create", .probe = "create", .args = {"{work}/fixed/new"}, .view = "EROFS", .gap = "writes/nested_read_only"},
    {.id = "nested_open", .probe = "open_write", .args = {"{work}/fixed/file"}, .view = "EROFS", .gap = "writes/nested_read_only"},
    {.id = "nested_unlink", .probe = "unlink", .args = {"{work}/fixed/file"}, .view = "EROFS", .gap = "writes/nested_read_only"},
    {.id = "nested_rename", .probe = "rename", .args = {"{work}/fixed", "{work}/moved"}, .view = "EBUSY", .gap = "writes/nested_read_only"},
    {.id = "denied_create", .probe = "create", .args = {"{work}/deep/denied/new"}, .view = "EACCES EROFS", .gap = "writes/nested_deny"},
    {.id = "denied_parent_replaced", .probe = "replace_parent", .args = {"{work}/deep", "{work}/bin/deep", "{work}/deep/denied2"}, .view = "EBUSY", .gap = "writes/nested_deny", .gap_path = "{work}/deep/denied"},
    {.id = "workspace_itself_removed", .probe = "rename", .args = {"{work}", "{work}2"}, .view = "EBUSY EXDEV", .bare = "EACCES"},
    {.id = "system_file", .probe = "open_for_write", .args = {"/etc/passwd"}, .view = "EROFS EACCES", .bare = "EACCES", .control = Control::root},
    {.id = "system_program", .probe = "create", .args = {"/usr/bin/../share/harn-probe-{pid}"}, .view = "EROFS", .bare = "EACCES", .control = Control::none, .why = "it would leave a file in /usr"},
    {.id = "core_pattern", .probe = "open_for_write", .args = {"/proc/sys/kernel/core_pattern"}, .view = "EROFS EACCES", .bare = "EACCES", .control = Control::root},
    {.id = "own_tunable", .probe = "open_for_write", .args = {"/proc/sys/kernel/domainname"}, .view = "EROFS EACCES", .bare = "EACCES", .control = Control::root},
    {.id = "sysfs", .probe = "open_for_write", .args = {"/sys/kernel/mm/transparent_hugepage/enabled"}, .view = "ENOENT", .bare = "EACCES", .control = Control::root},
    {.id = "cgroup", .probe = "open_for_write", .args = {"/sys/fs/cgroup/unified/cgroup.procs"}, .view = "ENOENT", .bare = "EACCES", .control = Control::root},
    {.id = "cgroup_old", .probe = "open_for_write", .args = {"/sys/fs/cgroup/pids/cgroup.procs"}, .view = "ENOENT", .bare = "EACCES", .control = Control::root},
    {.id = "settings_of_harn", .probe = "open_write", .args = {"{home}/.config/harn/config.toml"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "shell_start_file", .probe = "create", .args = {"{home}/.profile"}, .view = "ok", .bare = "EACCES"},
    {.id = "host_tmp", .probe = "create", .args = {"{temp}/new"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "host_shared_memory", .probe = "open_for_write", .args = {"/dev/shm{name}"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
};

const bool registered = promise({.name = "CannotWriteOutside", .cases = cases});

}  // namespace
}  // namespace harn::confine
