// SPDX-License-Identifier: Apache-2.0
// Kernel interfaces that lead around the boundary or are known for their bugs. Calls that would harm
// the machine get arguments that cannot work: past the permission check they fail harmlessly.
#include <asm/ldt.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/quota.h>
#include <sys/reboot.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

namespace probe {
namespace {

int io_uring(Args) {
  unsigned char parameters[120] = {};
  return verdict(::syscall(SYS_io_uring_setup, 1, parameters));
}

int io_uring_enter(Args) { return verdict_past(::syscall(SYS_io_uring_enter, -1, 0, 0, 0, nullptr, 0), EBADF); }
int io_uring_register(Args) { return verdict_past(::syscall(SYS_io_uring_register, -1, 0, nullptr, 0), EINVAL); }

int bpf_map(Args) {
  bpf_attr wanted = {};
  wanted.map_type = BPF_MAP_TYPE_ARRAY;
  wanted.key_size = 4;
  wanted.value_size = 4;
  wanted.max_entries = 1;
  return verdict(::syscall(SYS_bpf, BPF_MAP_CREATE, &wanted, sizeof wanted));
}

int add_key(Args) { return verdict(::syscall(SYS_add_key, "user", "harn-probe", "x", 1, KEY_SPEC_PROCESS_KEYRING)); }
int request_key(Args) { return verdict_past(::syscall(SYS_request_key, "user", "harn-probe-none", nullptr, 0), ENOKEY); }
int session_keyring(Args) { return verdict(::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr)); }

// The way a Landlock domain was once dropped: a parent given other credentials.
int keyring_to_parent(Args) {
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  return verdict(::syscall(SYS_keyctl, KEYCTL_SESSION_TO_PARENT));
}

int perf_self(Args) {
  perf_event_attr wanted = {};
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.size = sizeof wanted;
  wanted.config = PERF_COUNT_SW_DUMMY;
  wanted.disabled = 1;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  return verdict(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
}

int user_fault(Args) { return verdict(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)); }
int fanotify(Args) { return verdict(::syscall(SYS_fanotify_init, FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY)); }
int secret_memory(Args) { return verdict(::syscall(SYS_memfd_secret, 0)); }
int trace_me(Args) { return verdict(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }

int local_descriptors(Args) {
  char table[16] = {};
  return verdict(::syscall(SYS_modify_ldt, 0, table, sizeof table));
}

int readable_means_executable(Args) { return verdict(::personality(READ_IMPLIES_EXEC)); }
int other_personality(Args) { return verdict(::personality(PER_LINUX32)); }
// The one question of the family that everybody may ask.
int forge_memory_map(Args) {
  unsigned size = 0;
  return verdict(::prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0));
}

#if defined(__x86_64__)
// The 32-bit door: other numbers, other rules.
int old_door(Args) {
  long result = 20;  // getpid of i386
  asm volatile("int $0x80" : "+a"(result) : : "r8", "r9", "r10", "r11", "memory");
  if (result < 0) errno = static_cast<int>(-result);
  return result < 0 ? errno : 0;
}

// socketcall(SOCKET, AF_INET …) of i386 hides its arguments behind a pointer.
int old_door_socket(Args) {
  auto* arguments = static_cast<unsigned*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
  arguments[0] = 2;
  arguments[1] = 1;
  arguments[2] = 0;
  long result = 102;
  asm volatile("int $0x80" : "+a"(result) : "b"(1), "c"(arguments) : "r8", "r9", "r10", "r11", "memory");
  if (result < 0) errno = static_cast<int>(-result);
  return result < 0 ? errno : 0;
}

int x32_door(Args) { return verdict(::syscall(0x40000000L | SYS_getpid)); }
int x32_socket(Args) { return verdict(::syscall(0x40000000L | SYS_socket, 2, 1, 0)); }
#endif

int far_number(Args) { return verdict(::syscall(4000)); }

int reboot_wrongly(Args) { return verdict_past(::syscall(SYS_reboot, 0, 0, 0, nullptr), EINVAL); }
int load_kernel(Args) { return verdict_past(::syscall(SYS_kexec_load, 0, 0, nullptr, ~0ul), EINVAL); }
int load_kernel_file(Args) { return verdict_past(::syscall(SYS_kexec_file_load, -1, -1, 0, nullptr, ~0ul), EINVAL); }
int load_module(Args) { return verdict_past(::syscall(SYS_init_module, nullptr, 0, ""), ENOEXEC); }
int load_module_file(Args) { return verdict_past(::syscall(SYS_finit_module, -1, "", 0), EBADF); }
int remove_module(Args) { return verdict_past(::syscall(SYS_delete_module, "harn_no_such_module", O_NONBLOCK), ENOENT); }
int swap_on(Args) { return verdict_past(::swapon("/harn-no-such-file", 0), ENOENT); }
int swap_off(Args) { return verdict_past(::swapoff("/harn-no-such-file"), ENOENT); }
int accounting(Args) { return verdict_past(::acct("/harn-no-such-file"), ENOENT); }
int quota(Args) { return verdict_past(::quotactl(QCMD(Q_GETFMT, USRQUOTA), "/harn-no-such-device", 0, nullptr), ENOENT); }
int kernel_log(Args) { return verdict(::syscall(SYS_syslog, 10, nullptr, 0)); }
int io_ports(Args) { return verdict(::syscall(SYS_ioperm, 0x80, 1, 1)); }
int io_level(Args) { return verdict(::syscall(SYS_iopl, 3)); }

int set_clock(Args) {
  const timespec impossible = {0, -1};
  return verdict_past(::syscall(SYS_clock_settime, CLOCK_REALTIME, &impossible), EINVAL);
}

int set_time(Args) {
  const timeval impossible = {0, -1};
  return verdict_past(::syscall(SYS_settimeofday, &impossible, nullptr), EINVAL);
}

int adjust_clock(Args) {
  timex wanted = {};
  wanted.modes = ADJ_TICK;
  wanted.tick = 1;  // far out of range
  return verdict_past(::syscall(SYS_adjtimex, &wanted), EINVAL);
}

int host_name(Args) {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return verdict(::sethostname(name, std::string_view(name).size()));
}

int domain_name(Args) { return verdict_past(::syscall(SYS_setdomainname, "", -1), EINVAL); }

constexpr Probe table[] = {
    {"io_uring_setup", io_uring},
    {"io_uring_enter", io_uring_enter},
    {"io_uring_register", io_uring_register},
    {"bpf", bpf_map},
    {"add_key", add_key},
    {"request_key", request_key},
    {"session_keyring", session_keyring},
    {"keyring_to_parent", keyring_to_parent},
    {"perf_event_open", perf_self},
    {"userfaultfd", user_fault},
    {"fanotify_init", fanotify},
    {"memfd_secret", secret_memory},
    {"trace_me", trace_me},
    {"modify_ldt", local_descriptors},
    {"read_implies_exec", readable_means_executable},
    {"other_personality", other_personality},
    {"forge_memory_map", forge_memory_map},
#if defined(__x86_64__)
    {"int80", old_door},
    {"int80_socket", old_door_socket},
    {"x32", x32_door},
    {"x32_socket", x32_socket},
#endif
    {"far_number", far_number},
    {"reboot", reboot_wrongly},
    {"kexec_load", load_kernel},
    {"kexec_file_load", load_kernel_file},
    {"init_module", load_module},
    {"finit_module", load_module_file},
    {"delete_module", remove_module},
    {"swapon", swap_on},
    {"swapoff", swap_off},
    {"acct", accounting},
    {"quotactl", quota},
    {"syslog", kernel_log},
    {"ioperm", io_ports},
    {"iopl", io_level},
    {"clock_settime", set_clock},
    {"settimeofday", set_time},
    {"adjtimex", adjust_clock},
    {"sethostname", host_name},
    {"setdomainname", domain_name},
};

}  // namespace

Probes kernel() { return table; }

}  // namespace probe
