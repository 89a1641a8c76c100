// SPDX-License-Identifier: Apache-2.0
// A command cannot read, list or run what lies outside its grants, by any spelling of the path, nor
// what is denied inside them.
#include "confine/support/case.h"

namespace harn::confine {
namespace {

constexpr auto loader = "/lib64/ld-linux-x86-64.so.2";

const Case cases[] = {
    {.id = "open", .probe = "open_read", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "openat2", .probe = "openat2_read", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "reopen_a_path_descriptor", .probe = "open_path_reopen", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "climb", .probe = "open_read", .args = {"../outside/climb/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "climb_past_the_root", .probe = "open_read", .args = {"../../../../../../../../..{own}/secret"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "climb_through_a_grant", .probe = "open_read", .args = {"{shared}/directory/../../outside/climb_through_a_grant/secret"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "climb_from_a_deleted_directory", .probe = "climb_from_deleted", .args = {"{work}/bin/gone", "../../outside/climb_from_a_deleted_directory/secret"},
     .view = "ENOENT", .bare = "ENOENT EACCES", .control = Control::none, .why = "a deleted directory has no parent by name, confined or not"},
    {.id = "chdir_there", .probe = "chdir_read", .args = {"{own}", "secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "planted_link", .probe = "open_read", .args = {"{work}/way_out/planted_link/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "link_of_its_own", .probe = "symlink_read", .args = {"{own}/secret", "{work}/bin/link1"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "link_through_proc", .probe = "symlink_read", .args = {"/proc/self/root{own}/secret", "{work}/bin/link2"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "proc_root", .probe = "open_read", .args = {"/proc/self/root{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "proc_cwd", .probe = "open_read", .args = {"/proc/self/cwd/../outside/proc_cwd/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "thread_root", .probe = "open_read", .args = {"/proc/thread-self/root{own}/secret"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "root_of_another", .probe = "open_read", .args = {"/proc/{pid}/root{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "directory_of_another", .probe = "open_read", .args = {"/proc/{pid}/cwd/directory_of_another/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "descriptor_of_another", .probe = "open_read", .args = {"/proc/{pid}/fd/{fd}"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "list", .probe = "list", .args = {"{own}"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "list_beside_the_workspace", .probe = "see_name", .args = {"{work}/..", "outside"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "list_the_root", .probe = "see_name", .args = {"/", "mnt"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "list_the_host_tmp", .probe = "list", .args = {"{temp}"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "hard_link_in", .probe = "link_read", .args = {"{own}/secret", "{work}/bin/hard"}, .view = "ENOENT", .bare = "EACCES EXDEV", .critical = true},
    {.id = "rename_in", .probe = "rename_read", .args = {"{own}/secret", "{work}/bin/moved"}, .view = "ENOENT", .bare = "EACCES EXDEV", .critical = true},
    {.id = "rename_a_directory_in", .probe = "rename_read", .args = {"{own}", "{work}/bin/whole", "{work}/bin/whole/secret"}, .view = "ENOENT", .bare = "EACCES EXDEV"},
    {.id = "run_a_program", .probe = "exec", .args = {"{own}/program"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "run_by_the_loader", .probe = "exec_by_loader", .args = {loader, "{own}/program"}, .view = "ELIBACC", .bare = "ELIBACC"},
    {.id = "run_from_memory", .probe = "exec_memory", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "wider_domain", .probe = "landlock_wider", .args = {"{own}/secret"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "make_a_handle", .probe = "name_handle", .args = {"{own}/secret"}, .view = "EPERM", .bare = "EPERM"},
    {.id = "open_by_handle", .probe = "open_handle", .args = {"{work}"}, .view = "EPERM", .bare = "EPERM", .control = Control::root, .why = "ESTALE counts: the right was there"},
    {.id = "host_tmp", .probe = "open_read", .args = {"{temp}/secret"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "host_shared_memory", .probe = "open_only", .args = {"/dev/shm{name}"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "keys", .probe = "open_read", .args = {"{home}/.ssh/id_rsa"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "keys_by_link", .probe = "open_read", .args = {"{work}/way_to_keys/id_rsa"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "cloud_login", .probe = "open_read", .args = {"{home}/.aws/credentials"}, .view = "ENOENT", .bare = "EACCES", .critical = true},
    {.id = "netrc", .probe = "open_read", .args = {"{home}/.netrc"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "shell_history", .probe = "open_read", .args = {"{home}/.bash_history"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "forge_login", .probe = "open_read", .args = {"{home}/.config/gh/hosts.yml"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "agent_state", .probe = "open_read", .args = {"{home}/.claude/settings.json"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "keyring", .probe = "open_read", .args = {"{home}/.gnupg/secring.gpg"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "home_file", .probe = "open_read", .args = {"{home}/notes"}, .view = "ENOENT", .bare = "EACCES"},
    {.id = "shadow", .probe = "open_read", .args = {"/etc/shadow"}, .view = "EACCES", .bare = "EACCES", .control = Control::root},
    {.id = "denied_inside", .probe = "open_read", .args = {"{work}/deep/denied/secret"}, .view = "EACCES", .gap = "reads/nested_deny"},
    {.id = "list_denied_inside", .probe = "list", .args = {"{work}/deep/denied"}, .view = "EACCES", .gap = "reads/nested_deny"},
    {.id = "exchange_denied", .probe = "exchange", .args = {"{work}/deep/denied", "{work}/.vscode"}, .view = "EBUSY EXDEV", .gap = "reads/nested_deny"},
    {.id = "rename_denied", .probe = "rename", .args = {"{work}/deep/denied", "{work}/bin/renamed"}, .view = "EBUSY EXDEV", .gap = "reads/nested_deny"},
    {.id = "kernel_log", .probe = "open_only", .args = {"/dev/kmsg"}, .view = "ENOENT", .bare = "EACCES", .control = Control::root},
    {.id = "kernel_log_by_proc", .probe = "open_only", .args = {"/proc/kmsg"}, .view = "EPERM", .bare = "EPERM", .control = Control::root},
    {.id = "fuse", .probe = "open_only", .args = {"/dev/fuse"}, .view = "ENOENT", .bare = "EACCES", .control = Control::root},
    {.id = "sysfs", .probe = "list", .args = {"/sys/kernel"}, .view = "ENOENT", .bare = "EACCES"},
};

const bool registered = promise({.name = "CannotReadOutside", .cases = cases});

}  // namespace
}  // namespace harn::confine
