// SPDX-License-Identifier: Apache-2.0
// Kernel interfaces no ordinary command needs are closed. Calls that could harm the machine are made
// with arguments that cannot work; the error past the permission check is the control's success.
#include "confine/support/case.h"

namespace harn::confine {
namespace {

constexpr auto harmless = "invalid arguments: the error after the permission check counts";
constexpr auto absent = "this kernel is built without it";
constexpr auto locked = "kernel lockdown refuses it to everybody here";

const Case cases[] = {
    {.id = "io_uring_setup", .probe = "io_uring_setup", .view = "EPERM", .bare = "EPERM"},
    {.id = "io_uring_enter", .probe = "io_uring_enter", .view = "EPERM", .bare = "EPERM", .why = harmless},
    {.id = "io_uring_register", .probe = "io_uring_register", .view = "EPERM", .bare = "EPERM", .why = harmless},
    {.id = "bpf", .probe = "bpf", .view = "EPERM", .bare = "EPERM", .control = Control::root},
    {.id = "add_key", .probe = "add_key", .view = "EPERM", .bare = "EPERM"},
    {.id = "request_key", .probe = "request_key", .view = "EPERM", .bare = "EPERM", .why = harmless},
    {.id = "session_keyring", .probe = "session_keyring", .view = "EPERM", .bare = "EPERM"},
    {.id = "keyring_to_parent", .probe = "keyring_to_parent", .view = "EPERM", .bare = "EPERM"},
    {.id = "perf_event_open", .probe = "perf_event_open", .view = "EPERM", .bare = "EPERM"},
    {.id = "userfaultfd", .probe = "userfaultfd", .view = "EPERM", .bare = "EPERM"},
    {.id = "fanotify", .probe = "fanotify_init", .view = "EPERM", .bare = "EPERM"},
    {.id = "memfd_secret", .probe = "memfd_secret", .view = "EPERM", .bare = "EPERM", .control = Control::none, .why = absent},
    {.id = "trace_me", .probe = "trace_me", .view = "EPERM", .bare = "EPERM"},
    {.id = "local_descriptors", .probe = "modify_ldt", .view = "EPERM", .bare = "EPERM"},
    {.id = "read_implies_exec", .probe = "read_implies_exec", .view = "EPERM", .bare = "EPERM"},
    {.id = "other_personality", .probe = "other_personality", .view = "EPERM", .bare = "EPERM"},
    {.id = "forged_memory_map", .probe = "forge_memory_map", .view = "EPERM", .bare = "EPERM"},
#if defined(__x86_64__)
    {.id = "int80", .probe = "int80", .view = "SIGSYS", .bare = "SIGSYS"},
    {.id = "int80_socket", .probe = "int80_socket", .view = "SIGSYS", .bare = "SIGSYS"},
    {.id = "x32", .probe = "x32", .view = "SIGSYS EPERM ENOSYS", .bare = "SIGSYS EPERM ENOSYS", .control = Control::none, .why = absent},
    {.id = "x32_socket",
     .probe = "x32_socket",
     .view = "SIGSYS EPERM ENOSYS",
     .bare = "SIGSYS EPERM ENOSYS",
     .control = Control::none,
     .why = absent},
#endif
    {.id = "far_number", .probe = "far_number", .view = "ENOSYS", .bare = "ENOSYS", .control = Control::none, .why = "no kernel has it"},
    {.id = "reboot", .probe = "reboot", .view = "EPERM", .bare = "EPERM", .control = Control::root, .why = harmless},
    {.id = "kexec_load", .probe = "kexec_load", .view = "EPERM", .bare = "EPERM", .control = Control::none, .why = absent},
    {.id = "kexec_file_load", .probe = "kexec_file_load", .view = "EPERM", .bare = "EPERM", .control = Control::none, .why = absent},
    {.id = "init_module", .probe = "init_module", .view = "EPERM", .bare = "EPERM", .control = Control::none, .why = absent},
    {.id = "finit_module", .probe = "finit_module", .view = "EPERM", .bare = "EPERM", .control = Control::none, .why = absent},
    {.id = "delete_module", .probe = "delete_module", .view = "EPERM", .bare = "EPERM", .control = Control::none, .why = absent},
    {.id = "swapon", .probe = "swapon", .view = "EPERM", .bare = "EPERM", .control = Control::root, .why = harmless},
    {.id = "swapoff", .probe = "swapoff", .view = "EPERM", .bare = "EPERM", .control = Control::root, .why = harmless},
    {.id = "accounting", .probe = "acct", .view = "EPERM", .bare = "EPERM", .control = Control::root, .why = harmless},
    {.id = "quota", .probe = "quotactl", .view = "EPERM", .bare = "EPERM", .why = harmless},
    {.id = "kernel_log", .probe = "syslog", .view = "EPERM", .bare = "EPERM", .control = Control::root},
    {.id = "io_ports", .probe = "ioperm", .view = "EPERM", .bare = "EPERM", .control = Control::none, .why = locked},
    {.id = "io_level", .probe = "iopl", .view = "EPERM", .bare = "EPERM", .control = Control::none, .why = locked},
    {.id = "set_clock", .probe = "clock_settime", .view = "EPERM", .bare = "EPERM", .control = Control::root, .why = harmless},
    {.id = "set_time", .probe = "settimeofday", .view = "EPERM", .bare = "EPERM", .control = Control::root, .why = harmless},
    {.id = "adjust_clock", .probe = "adjtimex", .view = "EPERM", .bare = "EPERM", .control = Control::root, .why = harmless},
    {.id = "host_name",
     .probe = "sethostname",
     .view = "EPERM",
     .bare = "EPERM",
     .control = Control::root,
     .why = "the name it has already"},
    {.id = "domain_name", .probe = "setdomainname", .view = "EPERM", .bare = "EPERM", .control = Control::root, .why = harmless},
};

const bool registered = promise({.name = "KernelSurfaceIsClosed", .cases = cases});

}  // namespace
}  // namespace harn::confine
