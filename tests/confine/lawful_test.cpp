// SPDX-License-Identifier: Apache-2.0
// What ordinary programs do works inside. Each act is the admitted neighbour of one that is refused.
#include "confine/support/case.h"

namespace harn::confine {
namespace {

const Case cases[] = {
    {.id = "list_the_root", .probe = "list", .args = {"/"}, .view = "ok", .bare = "EACCES"},
    {.id = "list_above_the_workspace", .probe = "list", .args = {"{work}/.."}, .view = "ok", .bare = "EACCES"},
    {.id = "list_the_workspace", .probe = "list", .args = {"{work}"}, .view = "ok", .bare = "ok"},
    {.id = "read_a_grant", .probe = "open_read", .args = {"{shared}/file"}, .view = "ok", .bare = "ok"},
    {.id = "read_system_files", .probe = "open_read", .args = {"/etc/passwd"}, .view = "ok", .bare = "ok"},
    {.id = "read_own_process", .probe = "open_read", .args = {"/proc/self/status"}, .view = "ok", .bare = "ok"},
    {.id = "read_own_memory_map", .probe = "open_read", .args = {"/proc/self/maps"}, .view = "ok", .bare = "ok"},
    {.id = "run_a_shell", .probe = "lawful_program", .args = {"/bin/sh"}, .view = "ok", .bare = "ok"},
    {.id = "run_by_the_loader",
     .probe = "exec_by_loader",
     .args = {"/lib64/ld-linux-x86-64.so.2", "/bin/true"},
     .view = "ok",
     .bare = "ok"},
    {.id = "run_from_memory", .probe = "exec_memory", .args = {"{work}/file"}, .view = "ok", .bare = "ok"},
    {.id = "files_in_the_workspace", .probe = "lawful_file", .args = {"{work}/bin"}, .view = "ok", .bare = "ok"},
    {.id = "directories_in_the_workspace",
     .probe = "lawful_directory",
     .args = {"{work}/bin"},
     .view = "ok",
     .bare = "ok",
     .old_kernel = "EXDEV"},
    {.id = "files_in_tmp", .probe = "lawful_file", .args = {"/tmp"}, .view = "ok", .bare = "EACCES"},
    {.id = "directories_in_tmp", .probe = "lawful_directory", .args = {"/tmp"}, .view = "ok", .bare = "EACCES"},
    {.id = "files_in_var_tmp", .probe = "lawful_file", .args = {"/var/tmp"}, .view = "ok", .bare = "EACCES"},
    {.id = "files_at_home", .probe = "lawful_file", .args = {"{home}"}, .view = "ok", .bare = "EACCES"},
    {.id = "files_in_shared_memory", .probe = "lawful_file", .args = {"/dev/shm"}, .view = "ok", .bare = "EACCES"},
    {.id = "attributes", .probe = "lawful_attribute", .args = {"{work}/file"}, .view = "ok", .bare = "ok"},
    {.id = "errors_as_ever", .probe = "lawful_errors", .args = {"{work}/bin"}, .view = "ok", .bare = "ok"},
    {.id = "unnamed_file", .probe = "lawful_unnamed_file", .args = {"{work}"}, .view = "ok", .bare = "ok"},
    {.id = "stream_pair", .probe = "lawful_stream_pair", .view = "ok", .bare = "ok"},
    {.id = "datagram_pair", .probe = "lawful_datagram_pair", .view = "ok", .bare = "EPERM"},
    {.id = "serve_in_the_workspace",
     .probe = "lawful_serve",
     .args = {"{work}/bin/serve"},
     .view = "ok",
     .bare = "ok",
     .unsupervised = "EPERM"},
    {.id = "serve_in_tmp",
     .probe = "lawful_serve",
     .args = {"/tmp/harn-lawful-{pid}"},
     .view = "ok",
     .bare = "EACCES",
     .unsupervised = "EPERM"},
    {.id = "serve_by_abstract_name",
     .probe = "lawful_serve",
     .args = {"@harn-lawful-{pid}"},
     .view = "ok",
     .bare = "ok",
     .old_kernel = "EPERM",
     .unsupervised = "EPERM"},
    {.id = "terminal_pair", .probe = "lawful_terminal", .view = "ok", .bare = "EACCES"},
    {.id = "shared_memory", .probe = "lawful_shared_memory", .view = "ok", .bare = "EACCES"},
    {.id = "old_segment", .probe = "lawful_segment", .view = "ok", .bare = "EPERM"},
    {.id = "signal_a_child", .probe = "lawful_signal_child", .view = "ok", .bare = "ok"},
    {.id = "lower_its_priority", .probe = "lawful_nice", .view = "ok", .bare = "ok"},
    {.id = "choose_its_processors", .probe = "lawful_affinity", .view = "ok", .bare = "ok"},
    {.id = "events", .probe = "lawful_events", .args = {"{work}"}, .view = "ok", .bare = "ok"},
    {.id = "executable_memory", .probe = "lawful_executable_memory", .view = "ok", .bare = "ok"},
    {.id = "null", .probe = "open_write", .args = {"/dev/null"}, .view = "ok", .bare = "ok"},
    {.id = "random", .probe = "open_read", .args = {"/dev/urandom"}, .view = "ok", .bare = "ok"},
};

const bool registered = promise({.name = "LawfulActsWork", .cases = cases});

}  // namespace
}  // namespace harn::confine
