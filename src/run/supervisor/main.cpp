// SPDX-License-Identifier: Apache-2.0
// The supervisor: parent of a command that has no view. It answers the system calls the filter traps, and
// otherwise does what the init program does where there is a pid namespace: reaps, passes signals on, says how
// the command ended, ends what is left. It lives inside the command's own Landlock rules: what it does on
// somebody's behalf is bounded by them a second time.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "run/init/first_process.h"
#include "run/init/parcel.h"
#include "run/supervisor/descendants.h"
#include "run/supervisor/serve.h"

using namespace harn::run::supervisor;  // NOLINT(google-build-using-namespace): the program is this namespace
namespace init = harn::run::init;

namespace {

constexpr unsigned long sync_wake_up = 1;                         // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, Linux 6.6
constexpr unsigned long set_flags = _IOW('!', 4, std::uint64_t);  // SECCOMP_IOCTL_NOTIF_SET_FLAGS
constexpr long retry_ns = 5'000'000;                              // for calls that would block
constexpr long asked_ns = 200'000'000;                            // whether whoever asked is still there

using init::leave;
using init::Life;

Found found;

bool reap(Life& life, int options) {
  return init::reap(life, options | __WALL, status_fd, [](int status) { return (status & 0x7f) == SIGKILL; });
}

// Nobody outlives the command, nor us: orphans come to us, and are ended until none is left.
void end_everybody(Life& life) {
  while (reap(life, WNOHANG)) {
    signal_descendants(SIGKILL, found);
    const timespec pause = {.tv_sec = 0, .tv_nsec = 100'000};
    raw_syscall(SYS_nanosleep, word_of(&pause), 0);
  }
}

[[noreturn]] void sweep(Life& life) {
  init::sweep(life, status_fd, [&] { return reap(life, WNOHANG); }, [&] { end_everybody(life); });
}

struct Hand {
  Life& life;

  [[noreturn]] void abandon() const {
    end_everybody(life);
    leave(init::abandoned_exit);
  }
  // Without a namespace of their own nobody may make segments, and those of the host are not counted.
  static void tell_measure() {
    shm_info segments = {};
    if (raw_syscall(SYS_getpid) == 1) raw_syscall(SYS_shmctl, 0, SHM_INFO, word_of(&segments));
    init::tell(status_fd, {.kind = init::Record::measured, .shared_pages = segments.shm_rss + segments.shm_swp});
  }
  void signal_command(int number) const {
    if (!life.ended) raw_syscall(SYS_kill, life.command, number);
  }
  static void signal_everybody(int number) { signal_descendants(number, found); }
};

// The command's process sends the listener before it becomes the command.
int receive_listener(Life& life) {
  init::Parcel<int, 1> sent;
  if (init::receive_parcel(post_fd, sent, MSG_DONTWAIT) != sizeof sent.value || sent.count != 1) leave(init::abandoned_exit);
  life.command = sent.value;
  raw_syscall(SYS_close, post_fd);
  return sent.fds[0];
}

// A file that is not as it should be gives no rules and no orders: nothing is allowed.
Rules map_rules(Orders& orders) {
  struct stat status = {};
  if (raw_syscall(SYS_newfstatat, rules_fd, word_of(""), word_of(&status), AT_EMPTY_PATH) < 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  const Word mapped = raw_syscall(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, rules_fd, 0);
  raw_syscall(SYS_close, rules_fd);
  Duties duties;
  if ((mapped < 0 && mapped > -4096) || size < sizeof duties) return {};
  const char* block = reinterpret_cast<const char*>(mapped);
  __builtin_memcpy(&duties, block, sizeof duties);
  const auto rows = duties.refused * sizeof(RefusedCall);
  const auto numbers = duties.looked_at * sizeof(std::uint32_t);
  const auto before = sizeof duties + rows + numbers + duties.sockets;
  if (before > size) return {};
  orders = {.duties = duties,
            .refused = reinterpret_cast<const RefusedCall*>(block + sizeof duties),
            .looked_at = reinterpret_cast<const std::uint32_t*>(block + sizeof duties + rows),
            .sockets = {block + sizeof duties + rows + numbers, duties.sockets}};
  return {block + before, size - before};
}

[[noreturn]] void live() {
  raw_syscall(SYS_prctl, PR_SET_DUMPABLE, 0);
  raw_syscall(SYS_prctl, PR_SET_NAME, word_of("harn-supervisor"));
  // Nobody's signals are for us: a terminal's go to the command, ours come by the pipe.
  // One is let in: it brings us out of a call that was made to wait.
  const init::KernelAction woken = {.handler = [](int) {}, .flags = init::action_flags, .restorer = init::harn_restore_signal};
  raw_syscall(SYS_rt_sigaction, SIGALRM, word_of(&woken), 0, sizeof woken.mask);
  unsigned long all = ~(1ul << (SIGALRM - 1));
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, word_of(&all), 0, sizeof all);
  init::be_woken_by_children();
  raw_syscall(SYS_chdir, word_of("/"));

  Life life;
  const int listener = receive_listener(life);
  raw_syscall(SYS_ioctl, listener, set_flags, sync_wake_up);  // keeps caller and supervisor on one processor, where the kernel can
  Orders orders;
  const Rules rules = map_rules(orders);
  Server server(listener, rules, orders);
  server.hold_sockets();

  const unsigned long but_child = all & ~(1ul << (SIGCHLD - 1));
  // A child that ends interrupts the wait, unless calls keep coming; so now and then one looks anyway.
  constexpr int calls_between_looks = 16;
  for (int calls = 0;; calls = (calls + 1) % calls_between_looks) {
    if (calls == 0) reap(life, WNOHANG);
    if (life.ended) sweep(life);
    pollfd ready[] = {{.fd = control_fd, .events = POLLIN, .revents = 0},
                      {.fd = listener, .events = POLLIN, .revents = 0},
                      {.fd = server.asks() ? tell_fd : -1, .events = POLLIN, .revents = 0}};
    const timespec soon = {.tv_sec = 0, .tv_nsec = retry_ns};
    const timespec now_and_then = {.tv_sec = 0, .tv_nsec = asked_ns};
    const Word timeout = server.has_waiting() ? word_of(&soon) : server.has_asked() ? word_of(&now_and_then) : 0;
    if (raw_syscall(SYS_ppoll, word_of(ready), 3, timeout, word_of(&but_child), sizeof but_child) <= 0) calls = -1;
    if (ready[0].revents != 0) init::obey(control_fd, status_fd, Hand{life});
    if ((ready[1].revents & POLLIN) != 0) server.serve();
    if (server.has_waiting()) server.serve_waiting();
    if (ready[2].revents != 0) server.take_verdict();
    if (server.has_asked()) server.look_after_asked();
  }
}

}  // namespace

// Called by the first instruction below; there is nothing to return to.
extern "C" [[noreturn]] void harn_supervisor_main() { live(); }

#if defined(__x86_64__)
asm(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall harn_supervisor_main\n");
#else
asm(".globl _start\n_start:\n\tmov x29, #0\n\tbl harn_supervisor_main\n");
#endif
