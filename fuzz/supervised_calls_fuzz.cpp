// SPDX-License-Identifier: Apache-2.0
// Arguments of a trapped call: numbers, and structures in memory of every size and alignment, next to pages that are not there. No crash,
// nothing is read beyond what is mapped, and where the rules allow nothing no path is opened or changed. The memory is our own, so
// that what the supervisor copies is what stands here.
#include <fcntl.h>
#include <linux/audit.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "run/supervisor/calls.h"

namespace {

using namespace harn::run::supervisor;

constexpr int call_numbers[] = {
    SYS_listen,
    SYS_setsockopt,
    SYS_openat,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_symlinkat,
    SYS_linkat,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_truncate,
    SYS_fchmod,
    SYS_fchmodat,
    452,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_ioctl,
    SYS_connect,
    SYS_bind,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_fcntl,
    SYS_pidfd_send_signal,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
#if defined(SYS_open)
    SYS_open,
    SYS_creat,
    SYS_mkdir,
    SYS_mknod,
    SYS_symlink,
    SYS_link,
    SYS_unlink,
    SYS_rmdir,
    SYS_rename,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
};

constexpr std::size_t page = 4096;

// Two pages with a hole behind each; what is asked for can begin anywhere.
char* memory() {
  static char* const begin = [] {
    auto* all = static_cast<char*>(::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::munmap(all + page, page);
    ::munmap(all + 3 * page, page);
    return all;
  }();
  return begin;
}

// Descriptors of ours that a call may name: both ends of a pair, a datagram socket, and nothing.
int descriptor(unsigned which) {
  static const int pair = [] {
    int ends[2] = {-1, -1};
    return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0 ? ends[0] : -1;
  }();
  static const int datagram = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  static const int sequence = [] {
    int ends[2] = {-1, -1};
    return ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0 ? ends[0] : -1;
  }();
  const int all[] = {pair, datagram, sequence, AT_FDCWD, -1, 9999};
  return all[which % 6];
}

class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), left_(size) {}
  std::uint64_t take(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size && left_ > 0; ++i, --left_) value = value << 8u | *bytes_++;
    return value;
  }
  // What is left lies in memory, across the end of a page as often as not.
  void spill(std::size_t at) {
    auto* to = memory();
    std::memset(to, 0, page);
    std::memset(to + 2 * page, 0, page);
    for (; left_ > 0; --left_, ++at) {
      if (at % (2 * page) < page) to[at % (4 * page)] = static_cast<char>(*bytes_);
      ++bytes_;
    }
  }

 private:
  const std::uint8_t* bytes_;
  std::size_t left_;
};

std::uint64_t argument(Input& input) {
  const auto kind = input.take(1);
  switch (kind % 8) {
    case 0: return input.take(8);
    case 1: return static_cast<std::uint64_t>(static_cast<std::int64_t>(descriptor(static_cast<unsigned>(input.take(1)))));
    case 2: return input.take(2);
    case 3: return 0;
    default: return reinterpret_cast<std::uint64_t>(memory()) + input.take(2) % (4 * page);
  }
}

bool sends_signals(int number) {
  return number == SYS_pidfd_send_signal || number == SYS_rt_sigqueueinfo || number == SYS_rt_tgsigqueueinfo;
}

}  // namespace

namespace harn::run::supervisor {
bool Caller::waits() const { return true; }
}  // namespace harn::run::supervisor

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  Input input(bytes, size);
  seccomp_data call = {};
  call.nr = call_numbers[input.take(1) % (sizeof call_numbers / sizeof *call_numbers)];
  const bool foreign = input.take(1) == 0;
  call.arch = foreign ? AUDIT_ARCH_I386 : static_cast<std::uint32_t>(AUDIT_ARCH_X86_64);
  for (auto& one : call.args) one = argument(input);
  if (sends_signals(call.nr)) call.args[call.nr == SYS_rt_tgsigqueueinfo ? 2 : 1] = 0;  // a question, not a signal
  input.spill(input.take(2));

  static Bound bound;
  static Umasks umasks;
  const Rules nothing;
  // Led sockets end at a port of loopback where nobody listens.
  const bool led = input.take(1) % 2 == 0;
  const std::uint16_t nobody = led ? 1 : 0;
  const Reach reach{.bound = &bound, .stream_port = nobody, .resolver_port = nobody};
  const Caller caller(-1, 0, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  Request request{.caller = caller, .rules = nothing, .reach = reach, .umasks = umasks};
  const Answer answer = perform(request, call);
  if (foreign && answer.value != -ENOSYS) std::abort();
  if (answer.descriptor || answer.go_on) std::abort();  // nothing may be opened, and nothing that is decided about ever goes on
  if (answer.value > 0 && !answer.counts) std::abort();
  // A name could only be found free, or refused.
  if (call.nr == SYS_mkdirat || call.nr == SYS_unlinkat || call.nr == SYS_renameat2 || call.nr == SYS_bind)
    if (answer.value == 0 && call.nr != SYS_bind) std::abort();
  return 0;
}
