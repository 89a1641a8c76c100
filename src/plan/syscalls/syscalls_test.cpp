// SPDX-License-Identifier: Apache-2.0
// What the shipped filters promise, judged on the compiled program: what is refused whatever the
// policy says, and what each grant adds.
#include "plan/syscalls/syscalls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/text.h"
#include "plan/syscalls/bpf.h"
#include "support/bpf_machine.h"
#include "support/syscall_model.h"

namespace harn::plan {
namespace {

using test::allow;
using test::fails_with;

constexpr std::string_view architectures[] = {"x86_64", "aarch64", "riscv64"};
const std::uint32_t eperm = fails_with(EPERM);
const std::uint32_t enosys = fails_with(ENOSYS);
const std::uint32_t no_family = fails_with(EAFNOSUPPORT);

const SyscallOptions nothing{};
const SyscallOptions view{
    .unix_full = true, .unix_datagrams = true, .private_ipc = true, .private_pids = true, .metadata = true, .truncation_checked = true};
const SyscallOptions landlock_only{.metadata = true, .truncation_checked = true};
const SyscallOptions everything{.network = NetworkReach::unrestricted,
                                .unix_full = true,
                                .unix_datagrams = true,
                                .private_ipc = true,
                                .private_pids = true,
                                .metadata = true,
                                .truncation_checked = true};

SyscallOptions with_network(SyscallOptions options, NetworkReach network) {
  options.network = network;
  return options;
}

// The verdict of the compiled filter; a name only x86_64 has counts as refused elsewhere.
std::uint32_t verdict(SyscallOptions options, std::string_view arch, std::string_view name, std::array<std::uint64_t, 6> arguments = {}) {
  options.arch = arch;
  const auto number = test::number_of(name, arch);
  EXPECT_TRUE(number || test::number_of(name, "x86_64")) << name;
  if (!number) return eperm;
  const auto filter = plan_syscalls(options);
  const auto program = compile_filter(*filter);
  return test::execute(*program, {.number = *number, .architecture = test::audit_architecture(arch), .arguments = arguments}).verdict;
}

constexpr std::string_view refused_by_the_seed =
    "bpf delete_module fanotify_init finit_module init_module kexec_file_load kexec_load mount "
    "open_by_handle_at perf_event_open process_vm_readv process_vm_writev ptrace reboot swapon swapoff umount2 "
    "userfaultfd";

constexpr std::string_view refused_too =
    "_sysctl acct add_key adjtimex chroot clock_adjtime clock_settime fanotify_mark fsconfig fsmount fsopen "
    "fspick get_robust_list io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp keyctl "
    "lookup_dcookie memfd_secret migrate_pages modify_ldt mount_setattr move_mount move_pages "
    "name_to_handle_at nfsservctl open_tree open_tree_attr pidfd_getfd pivot_root process_madvise "
    "process_mrelease quotactl quotactl_fd request_key setdomainname sethostname setns settimeofday syslog "
    "unshare uselib vhangup";

TEST(Syscalls, DangerousCallsAreRefusedWhateverIsGranted) {
  for (const std::string_view list : {refused_by_the_seed, refused_too})
    for (const std::string_view name : base::split(list, ' '))
      for (const std::string_view arch : architectures) EXPECT_EQ(verdict(everything, arch, name), eperm) << arch << ' ' << name;
}

struct Promise {
  std::string_view what = {};
  SyscallOptions options = {};
  std::string_view name = {};
  std::array<std::uint64_t, 6> arguments = {};
  std::uint32_t expected = 0;
};

void keep(std::span<const Promise> promises) {
  for (const Promise& promise : promises)
    for (const std::string_view arch : architectures) {
      if (arch != "x86_64" && !test::number_of(promise.name, arch)) continue;
      EXPECT_EQ(verdict(promise.options, arch, promise.name, promise.arguments), promise.expected) << promise.what << " on " << arch;
    }
}

constexpr std::uint64_t high_bits = 0xdeadbeef00000000;
constexpr std::uint64_t cloexec_nonblock = 0x80800;

TEST(Syscalls, ProcessesCannotLeaveOrReachOut) {
  const Promise promises[] = {
      {"threads", nothing, "clone", {0x3d0f00}, allow},
      {"fork", nothing, "clone", {0x1200011}, allow},
      {"a user namespace", everything, "clone", {0x10000011}, eperm},
      {"a mount namespace", everything, "clone", {0x20011}, eperm},
      {"a network namespace", everything, "clone", {0x40000011}, eperm},
      {"a cgroup namespace", everything, "clone", {0x02000011}, eperm},
      {"a namespace behind high bits", everything, "clone", {high_bits | 0x10000011}, eperm},
      {"high bits the kernel drops", nothing, "clone", {high_bits | 17}, allow},
      {"becoming a sibling", everything, "clone", {0x8011}, eperm},
      {"clone3 seems absent", everything, "clone3", {}, enosys},
      {"statmount seems absent", everything, "statmount", {}, enosys},
      {"own limits", nothing, "prlimit64", {0}, allow},
      {"limits of another process", everything, "prlimit64", {1234}, eperm},
      {"limits of pid 0 with high bits", nothing, "prlimit64", {high_bits}, allow},
      {"own affinity", landlock_only, "sched_setaffinity", {0}, allow},
      {"affinity of a neighbour", landlock_only, "sched_setaffinity", {1234}, eperm},
      {"affinity inside a pid namespace", view, "sched_setaffinity", {1234}, allow},
      {"own nice", landlock_only, "setpriority", {0, 0, 10}, allow},
      {"nice of all processes of the user", landlock_only, "setpriority", {2, 0, 10}, eperm},
      {"own io priority", landlock_only, "ioprio_set", {1, 0, 0}, allow},
      {"io priority of a group", landlock_only, "ioprio_set", {2, 0, 0}, eperm},
      {"signals", nothing, "kill", {1234, 9}, allow},
      {"names", nothing, "prctl", {15}, allow},
      {"forging the memory map", everything, "prctl", {35}, eperm},
      {"forging it behind high bits", everything, "prctl", {high_bits | 35}, eperm},
      {"default personality", nothing, "personality", {0}, allow},
      {"asking for the personality", nothing, "personality", {0xffffffff}, allow},
      {"asking with a sign-extended -1", nothing, "personality", {~std::uint64_t{0}}, allow},
      {"no address randomisation", nothing, "personality", {0x40000}, allow},
      {"READ_IMPLIES_EXEC", everything, "personality", {0x400000}, eperm},
      {"PER_LINUX32", everything, "personality", {8}, eperm},
  };
  keep(promises);
}

TEST(Syscalls, TerminalsDevicesAndMetadataAreGuarded) {
  const Promise promises[] = {
      {"isatty", nothing, "ioctl", {0, 0x5401}, allow},
      {"window size", nothing, "ioctl", {0, 0x5413}, allow},
      {"TIOCSTI", everything, "ioctl", {0, 0x5412}, eperm},
      {"TIOCSTI behind high bits", everything, "ioctl", {0, high_bits | 0x5412}, eperm},
      {"TIOCLINUX", everything, "ioctl", {0, 0x541c}, eperm},
      {"TIOCLINUX behind one high bit", everything, "ioctl", {0, 0x10000541c}, eperm},
      {"TIOCSETD", everything, "ioctl", {0, 0x5423}, eperm},
      {"a fifo", nothing, "mknodat", {0, 0, 0x11a4}, allow},
      {"a plain file", nothing, "mknodat", {0, 0, 0x81a4}, allow},
      {"a file without a type", nothing, "mknodat", {0, 0, 0x1a4}, allow},
      {"a character device", everything, "mknodat", {0, 0, 0x21b6}, eperm},
      {"a block device", everything, "mknodat", {0, 0, 0x61b6}, eperm},
      {"a device behind high bits", everything, "mknodat", {0, 0, high_bits | 0xf0000 | 0x2000}, eperm},
      {"a character device, old call", everything, "mknod", {0, 0x21b6}, eperm},
      {"a fifo, old call", nothing, "mknod", {0, 0x11a4}, allow},
      {"chmod where nothing may be written", nothing, "fchmodat", {}, eperm},
      {"fchmod where nothing may be written", nothing, "fchmod", {}, eperm},
      {"the newest chmod where nothing may be written", nothing, "fchmodat2", {}, eperm},
      {"inode flags where nothing may be written", nothing, "ioctl", {3, 0x40086602}, eperm},
      {"chmod", landlock_only, "fchmodat", {}, allow},
      {"utimensat", landlock_only, "utimensat", {}, allow},
      {"inode flags", landlock_only, "ioctl", {3, 0x40086602}, allow},
  };
  keep(promises);
}

TEST(Syscalls, TruncationNobodyElseChecksIsRefused) {
  const Promise promises[] = {
      {"truncate", landlock_only, "truncate", {}, allow},
      {"truncate unchecked", nothing, "truncate", {}, eperm},
      {"ftruncate needs a writable descriptor", nothing, "ftruncate", {}, allow},
      {"reading", nothing, "openat", {0, 0, 0}, allow},
      {"truncating for writing", nothing, "openat", {0, 0, 0x241}, allow},
      {"truncating while reading", nothing, "openat", {0, 0, 0x200}, eperm},
      {"truncating while reading, more flags", nothing, "openat", {0, 0, high_bits | 0x80a40}, eperm},
      {"truncating without access", nothing, "openat", {0, 0, 0x203}, eperm},
      {"truncating while reading, old call", nothing, "open", {0, 0x200}, eperm},
      {"truncating while reading, checked elsewhere", landlock_only, "openat", {0, 0, 0x200}, allow},
      {"openat2 seems absent", nothing, "openat2", {}, enosys},
      {"openat2 seems absent everywhere", landlock_only, "openat2", {}, enosys},
  };
  keep(promises);
}

TEST(Syscalls, NoFileGetsTheRightsOfItsOwner) {
  auto as_root = landlock_only;
  as_root.root = true;
  const Promise promises[] = {
      {"chmod", landlock_only, "chmod", {0, 0755}, allow},
      {"chmod u+s", landlock_only, "chmod", {0, high_bits | 04755}, eperm},
      {"chmod g+s", landlock_only, "chmod", {0, 02755}, allow},
      {"chmod g+s as root", as_root, "chmod", {0, 02755}, eperm},
      {"chmod sticky as root", as_root, "chmod", {0, 01777}, allow},
      {"fchmodat u+s", landlock_only, "fchmodat", {0, 0, 04700}, eperm},
      {"fchmodat2 u+s", as_root, "fchmodat2", {0, 0, 04700}, eperm},
      {"mknodat u+s", landlock_only, "mknodat", {0, 0, 0104755}, eperm},
      {"creat u+s", landlock_only, "creat", {0, 04755}, eperm},
      {"open to read, whatever stands in the mode", landlock_only, "open", {0, 0, 04000}, allow},
      {"open to create", landlock_only, "open", {0, 0x41, 0644}, allow},
      {"open to create u+s", landlock_only, "open", {0, 0x41, 04755}, eperm},
      {"openat to create u+s", landlock_only, "openat", {0, 0, 0x41, 04755}, eperm},
      {"openat to create unnamed u+s", landlock_only, "openat", {0, 0, 0x410001, 04755}, eperm},
      {"openat to create g+s as root", as_root, "openat", {0, 0, 0x41, 02755}, eperm},
  };
  keep(promises);
}

TEST(Syscalls, BelowNetworkOnlyConnectedPairsExist) {
  const Promise promises[] = {
      {"a stream pair", nothing, "socketpair", {1, 1}, allow},
      {"a stream pair with flags", nothing, "socketpair", {1, 1 | cloexec_nonblock}, allow},
      {"a sequential pair", nothing, "socketpair", {1, 5}, allow},
      {"a datagram pair", landlock_only, "socketpair", {1, 2}, eperm},
      {"a datagram pair with flags", landlock_only, "socketpair", {1, 2 | cloexec_nonblock}, eperm},
      {"a raw pair, which the kernel makes a datagram pair", view, "socketpair", {1, 3}, eperm},
      {"a datagram pair where the view limits names", view, "socketpair", {1, 2}, allow},
      {"a pair of another family", everything, "socketpair", {30, 1}, eperm},
      {"a unix socket", landlock_only, "socket", {1, 1}, eperm},
      {"a unix socket where the view limits names", view, "socket", {1, 1 | cloexec_nonblock}, allow},
      {"a unix datagram socket where the view limits names", view, "socket", {1, 2}, allow},
      {"a raw unix socket", view, "socket", {1, 3}, eperm},
      {"IPv4", view, "socket", {2, 1}, eperm},
      {"IPv4 with flags", view, "socket", {2, 1 | cloexec_nonblock}, eperm},
      {"IPv6", view, "socket", {10, 2}, eperm},
      {"connect without sockets", landlock_only, "connect", {}, eperm},
      {"bind without sockets", landlock_only, "bind", {}, eperm},
      {"listen without sockets", landlock_only, "listen", {}, eperm},
      {"accept without sockets", landlock_only, "accept4", {}, eperm},
      {"connect where the view limits names", view, "connect", {}, allow},
      {"sending over a pair", nothing, "sendmsg", {3, 0, 0x4040}, allow},
      {"sending over a pair by address", nothing, "sendto", {3, 0, 0, 0x4000}, allow},
      {"receiving over a pair", nothing, "recvmsg", {}, allow},
  };
  keep(promises);
}

TEST(Syscalls, NetworkMeansTcpAndUdpOverIp) {
  const SyscallOptions loopback = with_network(view, NetworkReach::loopback);
  const SyscallOptions restricted = with_network(view, NetworkReach::restricted);
  const SyscallOptions open = with_network(landlock_only, NetworkReach::unrestricted);
  const SyscallOptions own_network{.private_network = true};
  const Promise promises[] = {
      {"TCP over IPv4", loopback, "socket", {2, 1 | cloexec_nonblock, 6}, allow},
      {"TCP over IPv6", restricted, "socket", {10, 1, 0}, allow},
      {"UDP", restricted, "socket", {2, 2, 17}, allow},
      {"UDP by default protocol", open, "socket", {10, 2 | cloexec_nonblock, 0}, allow},
      {"high bits the kernel drops", open, "socket", {high_bits | 2, high_bits | 1, high_bits}, allow},
      {"multipath TCP", open, "socket", {2, 1, 262}, eperm},
      {"SCTP", open, "socket", {2, 1, 132}, eperm},
      {"sequential packets over IP", open, "socket", {2, 5, 0}, eperm},
      {"raw IP", open, "socket", {2, 3, 255}, eperm},
      {"ping on the host's network", open, "socket", {2, 2, 1}, allow},
      {"ping over IPv6 on the host's network", open, "socket", {10, 2, 58}, allow},
      {"ping in a private network", restricted, "socket", {2, 2, 1}, eperm},
      {"unix sockets without a view", open, "socket", {1, 1}, eperm},
      {"datagram pairs without a view", open, "socketpair", {1, 2}, eperm},
      {"interfaces of the host's network", open, "socket", {16, 3 | cloexec_nonblock, 0}, allow},
      {"interfaces by datagram", open, "socket", {16, 2, 0}, allow},
      {"interfaces of a network of its own", own_network, "socket", {16, 3, 0}, allow},
      {"binding to ask for them", own_network, "bind", {}, allow},
      {"interfaces of the host without its network", view, "socket", {16, 3, 0}, no_family},
      {"audit", everything, "socket", {16, 3, 9}, no_family},
      {"device events", everything, "socket", {16, 3, 15}, no_family},
      {"packet filters", own_network, "socket", {16, 3, 12}, no_family},
      {"netlink of another type", own_network, "socket", {16, 5, 0}, no_family},
      {"packet", everything, "socket", {17, 3, 0}, eperm},
      {"vsock", everything, "socket", {40, 1, 0}, eperm},
      {"kernel crypto", everything, "socket", {38, 5, 0}, eperm},
      {"express data path", everything, "socket", {44, 3, 0}, eperm},
      {"tipc", everything, "socket", {30, 1, 0}, eperm},
      {"connect", open, "connect", {}, allow},
      {"fast open by sendto", everything, "sendto", {3, 0, 0, 0x20000000}, eperm},
      {"fast open by sendmsg", everything, "sendmsg", {3, 0, 0x20004000}, eperm},
      {"fast open by sendmmsg", everything, "sendmmsg", {3, 0, 1, high_bits | 0x20000000}, eperm},
  };
  keep(promises);
}

TEST(Syscalls, IpcNeedsItsOwnNamespaceAndChildrenMayBeConfined) {
  const Promise promises[] = {
      {"System V memory", landlock_only, "shmget", {}, eperm},
      {"System V memory in its own namespace", view, "shmget", {}, allow},
      {"message queues", landlock_only, "mq_open", {}, eperm},
      {"message queues in their own namespace", view, "mq_open", {}, allow},
      {"landlock", nothing, "landlock_restrict_self", {}, allow},
      {"a filter", nothing, "seccomp", {1, 0}, allow},
      {"a filter for all threads", nothing, "seccomp", {1, 1}, allow},
      {"a filter with a listener", everything, "seccomp", {1, 8}, eperm},
      {"a filter with a listener and more", everything, "seccomp", {1, high_bits | 0x2b}, eperm},
      {"strict mode", nothing, "seccomp", {0, 0}, allow},
      {"asking what is available", nothing, "seccomp", {2, 0}, allow},
      {"an unknown operation", everything, "seccomp", {4, 0}, eperm},
  };
  keep(promises);
}

constexpr std::string_view needed_everywhere =
    "close_range copy_file_range execveat fadvise64 futex_waitv getrandom inotify_add_watch io_setup io_submit "
    "mbind membarrier memfd_create mlock pidfd_open pkey_alloc restart_syscall rseq rt_sigreturn "
    "sched_getaffinity sendfile statx sync_file_range sysinfo timerfd_create wait4";
constexpr std::string_view needed_on_x86_64 = "access arch_prctl dup2 epoll_wait fork lstat pipe poll stat vfork";

TEST(Syscalls, EverydayProgramsFindWhatTheyNeed) {
  for (const std::string_view name : base::split(needed_everywhere, ' '))
    for (const std::string_view arch : architectures) EXPECT_EQ(verdict(nothing, arch, name), allow) << arch << ' ' << name;
  for (const std::string_view name : base::split(needed_on_x86_64, ' ')) EXPECT_EQ(verdict(nothing, "x86_64", name), allow) << name;
}

TEST(Syscalls, ForeignAbisAreKilledAndUnknownNumbersSeemAbsent) {
  const auto x86 = compile_filter(*plan_syscalls(everything));
  const auto judge = [&](std::uint32_t number, std::uint32_t architecture) {
    return test::execute(*x86, {.number = number, .architecture = architecture}).verdict;
  };
  EXPECT_EQ(judge(0, 0x40000003), test::kill_process) << "i386 read";
  EXPECT_EQ(judge(359, 0x40000003), test::kill_process) << "i386 socket";
  EXPECT_EQ(judge(0, 0xc00000b7), test::kill_process) << "aarch64";
  EXPECT_EQ(judge(0x40000000, 0xc000003e), test::kill_process) << "x32 read";
  EXPECT_EQ(judge(0x40000000 | 520, 0xc000003e), test::kill_process) << "x32 execve";
  EXPECT_EQ(judge(520, 0xc000003e), enosys) << "x32 execve by its bare number";
  EXPECT_EQ(judge(471, 0xc000003e), enosys) << "newer than the list";
  EXPECT_EQ(judge(0xffffffff, 0xc000003e), enosys) << "a skipped call";
  EXPECT_EQ(judge(400, 0xc000003e), eperm) << "a number no call has";
}

TEST(Syscalls, EveryRuleHasAReasonAndKnownNames) {
  for (const std::string_view arch : architectures) {
    SyscallOptions options = everything;
    options.arch = arch;
    const auto filter = plan_syscalls(options);
    ASSERT_TRUE(filter);
    EXPECT_EQ(filter->arch, arch);
    EXPECT_EQ(filter->otherwise, SyscallAction::errno_);
    EXPECT_EQ(filter->otherwise_error, EPERM);
    for (const SyscallRule& rule : filter->rules) {
      EXPECT_GE(rule.reason.size(), 20U);
      EXPECT_FALSE(rule.names.empty()) << rule.reason;
      for (const std::string& name : rule.names) EXPECT_TRUE(test::number_of(name, arch)) << name;
    }
  }
}

// What a supervisor lets go on after a look, a program could have rewritten meanwhile: so all of it must be allowed
// without a look. And what it refuses in place of the filter is what the filter refuses, with the same error.
TEST(Syscalls, ExplainingOpensNothing) {
  for (auto options : {nothing, view, landlock_only, everything, with_network(view, NetworkReach::loopback)}) {
    options.supervised = options.supervised_reads = true;
    const auto plain = plan_syscalls(options);
    options.explained = true;
    const auto looked = calls_looked_at(options);
    EXPECT_FALSE(looked.empty());
    for (const auto& name : looked) {
      bool always = false;
      for (const auto& rule : plain->rules) {
        if (std::ranges::find(rule.names, name) == rule.names.end()) continue;
        EXPECT_EQ(rule.action, SyscallAction::allow) << name;
        always = always || rule.when.empty();
      }
      EXPECT_TRUE(always) << name;
    }
    auto explained = plan_syscalls(options);
    std::erase_if(explained->rules, [&](const SyscallRule& rule) {
      return rule.action == SyscallAction::notify && rule.error == 0 && std::ranges::find(looked, rule.names.front()) != looked.end();
    });
    for (auto& rule : explained->rules)
      if (rule.action == SyscallAction::notify && rule.error != 0) rule.action = SyscallAction::errno_;
    explained->otherwise = SyscallAction::errno_;
    EXPECT_EQ(*explained, *plain);
  }
}

// Whoever may read goes on by itself while it is explained: so without a supervisor that sees reads, every such open passes.
TEST(Syscalls, PlainReadingIsLeftToTheOtherLayers) {
  for (auto options : {nothing, view, landlock_only, everything}) {
    for (const bool supervised : {false, true}) {
      options.supervised = supervised;
      const auto program = compile_filter(*plan_syscalls(options));
      for (const std::uint64_t flags :
           {0, 02'004'000 /* O_CLOEXEC, O_NONBLOCK */, 0'600'000 /* O_DIRECTORY, O_NOFOLLOW */, 01'000'000 /* O_NOATIME */})
        for (const auto& [call, at] : {std::pair{"open", 1}, std::pair{"openat", 2}}) {
          test::SyscallEvent event{.number = *test::number_of(call, "x86_64"), .architecture = 0xc000003e};
          event.arguments[static_cast<std::size_t>(at)] = flags;
          event.arguments[static_cast<std::size_t>(at) + 1] = 04777;  // without O_CREAT it means nothing
          EXPECT_EQ(test::execute(*program, event).verdict, test::allow) << call << ' ' << flags;
        }
    }
  }
}

TEST(Syscalls, AnUnknownArchitectureIsNamed) {
  const auto filter = plan_syscalls({.arch = "sparc64"});
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error(), (Error{.code = ErrorCode::not_supported,
                                   .stage = Stage::plan,
                                   .message = "Harn has no system call list for the architecture 'sparc64'",
                                   .hint = "use one of x86_64, aarch64, riscv64"}));
}

}  // namespace
}  // namespace harn::plan
